"""New code is pulled under running workers: what each beat shows before and after."""

from dataclasses import dataclass

from claims.experiments.training_scripts import AMP, OPTIONS, Desk


@dataclass(frozen=True)
class Shown:
    """One beat as an observer sees it.

    Attributes:
        options: Names of the options it lists.
        identity: The hash over them.
        late: What the rule of age says.
        stale: Whether the digests differ; None where the beat has none.
        behind_h: How much older the code in memory is, in hours.
    """

    options: tuple[str, ...]
    identity: str
    late: bool
    stale: bool | None
    behind_h: float


def pulled_under(folder, contents, *, before, after, interval_s, hours=4.0, options=(*OPTIONS, AMP), version=1):
    """Beats of one worker, `before` and `after` a pull that comes some hours after its start.

    Args:
        folder: Where the script is written.
        contents: What the beats carry.
        before: Beats before the pull.
        after: Beats after it.
        interval_s: Seconds between beats; each is looked at just before the next is due.
        hours: From the worker's start to the pull.
        options: Those of the new script.
        version: What its body returns.

    Returns:
        The beats before, the beats after, and the first beat of a worker started after the pull.
    """
    desk = Desk(folder)
    worker = desk.worker(contents)
    desk.now_s += 3600 * hours - before * interval_s
    first = [_shown(desk, worker, interval_s) for _ in range(before)]
    desk.pull(options, version)
    then = [_shown(desk, worker, interval_s) for _ in range(after)]
    return first, then, _shown(desk, desk.worker(contents), interval_s)


def _shown(desk, worker, interval_s):
    from implementations.scheduling.heartbeat import is_late

    beat = worker.beat()
    desk.now_s += interval_s
    return Shown(
        tuple(one.name for one in beat.parameters),
        beat.identity,
        is_late(beat, desk.now_s, interval_s),
        None if beat.code is None else beat.code.stale,
        0.0 if beat.code is None else beat.code.behind_s / 3600,
    )
