"""The median stopping rule: a trial behind the median of the complete ones at the same step is given up.

Follows: Golovin et al., "Google Vizier" (2017), section 3.2.1, as Optuna has it: the *best* value the trial has shown
so far, against the median of what the complete trials reported at this very step. Pruned and failed trials do not
enter the median. `n_warmup_steps` is compared with the number of the step, not with the number of reports: where
steps are tree counts of 40, 80, …, a warm-up of 2 protects nothing.

Leaves out: percentiles other than the median.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import median

from implementations.search.study import History, State, Trial


@dataclass(frozen=True)
class MedianPruner:
    """The rule and its three grace periods.

    Args:
        n_startup_trials: Complete trials before any is stopped.
        n_warmup_steps: No trial is stopped at a step below this number.
        interval_steps: Checks happen at the first report in each interval of this many steps, counted from the warm-up.
        n_min_trials: Complete trials that must have reported at the step.

    Raises:
        ValueError: a negative number, an interval below 1 or fewer than 1 trial.
    """

    n_startup_trials: int = 5
    n_warmup_steps: int = 0
    interval_steps: int = 1
    n_min_trials: int = 1

    def __post_init__(self) -> None:
        for name, least in (("n_startup_trials", 0), ("n_warmup_steps", 0), ("interval_steps", 1), ("n_min_trials", 1)):
            if not getattr(self, name) >= least:
                raise ValueError(f"{name} {getattr(self, name)}; it must be at least {least}")

    def should_stop(self, history: History, trial: Trial) -> bool:
        """Whether the trial's last report condemns it; a trial that showed nothing but NaN is condemned at once."""
        complete = history.having(State.COMPLETE)
        if not trial.reports or not complete or len(complete) < self.n_startup_trials:
            return False
        step = max(trial.reports)
        if step < self.n_warmup_steps or not self._due(step, trial):
            return False
        shown = [history.sign * value for value in trial.reports.values() if not math.isnan(value)]
        if not shown:
            return True
        peers = [history.sign * other.reports[step] for other in complete if step in other.reports]
        known = [value for value in peers if not math.isnan(value)]
        if len(peers) < self.n_min_trials or not known:
            return False
        return min(shown) > median(known)

    def _due(self, step: int, trial: Trial) -> bool:
        """Whether this is the trial's first report in its interval."""
        start = step - (step - self.n_warmup_steps) % self.interval_steps
        return max((other for other in trial.reports if other != step), default=-1) < start
