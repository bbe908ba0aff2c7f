"""A week of ideas and one processor: runs that somebody has to start, against runs that are queued."""

import numpy as np

WEEK_H = 7 * 24.0


def runs_a_week(seed, *, ideas_a_day, run_h, launch_h, blocks_h, block_length_h):
    """Runs finished in a week, attended and queued, for the same ideas.

    Args:
        seed: Of the times at which ideas come, uniform between 8 and 22 o'clock.
        ideas_a_day: Mean of their Poisson number.
        run_h: Hours a run takes.
        launch_h: Hours of the operator that an attended launch takes.
        blocks_h: Hours of the day at which the operator sits down.
        block_length_h: For how long.

    Returns:
        The two counts.
    """
    rng = np.random.default_rng(seed)
    days = [24.0 * day + rng.uniform(8, 22, rng.poisson(ideas_a_day)) for day in range(7)]
    ideas_h = np.sort(np.concatenate(days))
    present = [(24.0 * day + at, 24.0 * day + at + block_length_h) for day in range(7) for at in blocks_h]
    return _finished(ideas_h, run_h, lambda at_h: _launched(at_h, present, launch_h)), _finished(ideas_h, run_h)


def _finished(ideas_h, run_h, start=lambda at_h: at_h):
    """Runs that end within the week, each started once the idea is there and the processor is free."""
    free_h, finished = 0.0, 0
    for idea_h in ideas_h:
        free_h = start(max(idea_h, free_h)) + run_h
        finished += free_h <= WEEK_H
    return finished


def _launched(at_h, present, launch_h):
    """The first time from `at_h` on at which somebody who was there has launched a run."""
    return next((max(at_h, begin) + launch_h for begin, end in present if max(at_h, begin) + launch_h <= end), np.inf)
