"""The harness measured by itself: how often it cries wolf on this machine, and how often it sleeps.

Identical arms give the false alarms; arms with 5, 10 and 20% more work give the detections. Each comparison is a
verdict of its own, from its own fresh processes: none is resampled from another, so a rate out of n has the binomial
interval of n, which is printed beside it. The kinds of comparison are shuffled, so that a busy minute of the machine
falls on all of them.

Beside the harness stand the rules `--benchmark-compare-fail=mean:10%` and `median:10%` of pytest-benchmark, at equal
time: on the same rounds, and on two saved runs, one process an arm and one after the other, as they are used.
Leaves out: pytest-benchmark's own timer and calibration; only its rule is rebuilt here.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean, median
from typing import Any

import click
import numpy as np
from rich.console import Console
from rich.progress import Progress as Bar
from rich.table import Table

from runtwice import environment
from runtwice.machine import machine_lock
from runtwice.stats import binomial_interval
from runtwice.timing import Arm, Plan, TimingResult, Worker, compare, round_seconds

SCHEMA = 1
TARGET_FALSE = 0.01
TARGET_FOUND = 0.95
TARGET_EXTRA = 0.10
TARGET_SECONDS = 10.0
TARGET_SPREAD = 0.04
RULE_PERCENT = 10
STATISTICS: dict[str, Callable[[Sequence[float]], float]] = {"mean": fmean, "median": median}
HARNESS = "runtwice"

Report = dict[str, Any]
Told = Callable[[int, int], None]


@dataclass(frozen=True)
class Sizes:
    """How much a self-check measures.

    Args:
        identical: comparisons of identical arms.
        slowed: comparisons for each slowdown.
        slowdowns: extra work, as fractions.
        max_seconds: time a verdict may take.
        most_seconds: no comparison starts after this; what was done by then is reported.
        steps: work of the unslowed arm, in steps of `runtwice.worker:spin`.
        margin: difference that counts as none.
    """

    identical: int
    slowed: int
    slowdowns: tuple[float, ...] = (0.05, 0.10, 0.20)
    max_seconds: float = 2.0
    most_seconds: float = math.inf
    steps: int = 4_000
    margin: float = 0.05


QUICK = Sizes(identical=60, slowed=15, most_seconds=165.0)
FULL = Sizes(identical=300, slowed=100, max_seconds=TARGET_SECONDS / 2)


@dataclass(frozen=True)
class Comparison:
    """One verdict of the harness, and what pytest-benchmark's rules say at equal time.

    Args:
        extra: the true slowdown, as a fraction; 0 for identical arms.
        decided: the harness's answer.
        ratio: its estimate of slow / fast.
        seconds: all it took.
        processes: how many it ran.
        log_ratios: one a process.
        alarms: by rule, whether it calls the slow arm a regression.
        noise: what was wrong with the machine meanwhile, or None.
    """

    extra: float
    decided: str | None
    ratio: float
    seconds: float
    processes: int
    log_ratios: tuple[float, ...]
    alarms: dict[str, bool] = field(default_factory=dict)
    noise: str | None = None


def run(quick: bool, progress: Told | None = None, *, sizes: Sizes | None = None, seed: int = 0) -> Report:
    """Measure the harness on this machine.

    Args:
        quick: under three minutes, instead of about half an hour.
        progress: told how many comparisons are done, and of how many.
        sizes: instead of those that `quick` chooses.
        seed: of the order and of every comparison.

    Returns:
        The report, ready for JSON; `render` prints it.

    Raises:
        MachineBusy: another timing kept the machine.
    """
    chosen = sizes or (QUICK if quick else FULL)
    begin = time.monotonic()
    with machine_lock("selfcheck"):
        done = _compare_all(chosen, seed, progress)
    return {
        "schema": SCHEMA,
        "quick": quick,
        "seed": seed,
        "sizes": {**asdict(chosen), "most_seconds": _finite(chosen.most_seconds)},
        "seconds": time.monotonic() - begin,
        "rows": rows(done),
        "spread": spread(done),
        "target": target(done),
        "noise": noise(done),
        "machine_info": environment.machine_info(),
        "comparisons": [asdict(one) for one in done],
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _compare_all(sizes: Sizes, seed: int, progress: Told | None) -> list[Comparison]:
    kinds = [0.0] * sizes.identical + [extra for extra in sizes.slowdowns for _ in range(sizes.slowed)]
    random.Random(seed).shuffle(kinds)
    begin, done = time.monotonic(), []
    for number, extra in enumerate(kinds):
        if time.monotonic() - begin > sizes.most_seconds:
            break
        done.append(_comparison(extra, sizes, seed * 100_000 + number))
        if progress:
            progress(number + 1, len(kinds))
    return done


def _comparison(extra: float, sizes: Sizes, seed: int) -> Comparison:
    slow, fast = (
        Arm("runtwice.worker:spin", settings={"steps": round(sizes.steps * factor)}) for factor in (1 + extra, 1.0)
    )
    result = compare(slow, fast, margin=sizes.margin, max_seconds=sizes.max_seconds, seed=seed)
    old, new = (_saved_run(arm, result.seconds / 2, sizes.max_seconds, seed) for arm in (fast, slow))
    return Comparison(
        extra=extra,
        decided=result.decided,
        ratio=result.ratio,
        seconds=result.seconds,
        processes=len(result.processes),
        log_ratios=result.log_ratios,
        alarms={**_same_rounds(result), **_alarms("saved runs", new, old)},
        noise=result.noise,
    )


def _saved_run(arm: Arm, budget_s: float, max_seconds: float, seed: int) -> tuple[float, ...]:
    """Seconds per call of one arm, timed alone in one process for half the time the harness took."""
    rounds = math.ceil(budget_s / round_seconds(max_seconds))
    return Worker(arm, None, max_seconds, budget_s=budget_s)(Plan(seed % 2**32, 0, (0,) * rounds)).slow_s


def _same_rounds(result: TimingResult) -> dict[str, bool]:
    return _alarms("same rounds", result.seconds_of("slow"), result.seconds_of("fast"))


def _alarms(how: str, new: Sequence[float], old: Sequence[float]) -> dict[str, bool]:
    return {f"{name}:{RULE_PERCENT}%, {how}": exceeds(name, new, old, RULE_PERCENT) for name in STATISTICS}


def exceeds(statistic: str, new: Sequence[float], old: Sequence[float], percent: float) -> bool:
    """Whether pytest-benchmark's `--benchmark-compare-fail=STATISTIC:PERCENT%` fails.

    Args:
        statistic: `mean` or `median`.
        new: seconds of the rounds that are judged.
        old: seconds of the saved rounds.
        percent: how much larger the statistic may be.
    """
    of = STATISTICS[statistic]
    return of(new) / of(old) * 100 - 100 > percent


def rows(done: Sequence[Comparison]) -> list[dict[str, Any]]:
    """The table: per rule its false alarms, its detections per slowdown, and the seconds a verdict took.

    The harness is charged with an alarm in either direction; a rule of pytest-benchmark only looks for slowdowns.
    """
    names = [HARNESS, *(done[0].alarms if done else ())]
    return [_row(name, done) for name in names]


def _row(name: str, done: Sequence[Comparison]) -> dict[str, Any]:
    identical = [_alarmed(name, one) for one in done if one.extra == 0.0]
    extras = sorted({one.extra for one in done if one.extra > 0.0})
    seconds = [one.seconds for one in done]
    return {
        "rule": name,
        "false_alarms": _rate(identical),
        "found": {f"{extra:.0%}": _rate([_found(name, one) for one in done if one.extra == extra]) for extra in extras},
        "mean_seconds": fmean(seconds) if seconds else None,
        "longest_seconds": max(seconds, default=None),
    }


def _alarmed(name: str, one: Comparison) -> bool:
    return one.decided in ("above", "below") if name == HARNESS else one.alarms[name]


def _found(name: str, one: Comparison) -> bool:
    return one.decided == "above" if name == HARNESS else one.alarms[name]


def _rate(flags: Sequence[bool]) -> dict[str, Any]:
    """hits of n, with the 95% interval of the rate; no rate of nothing."""
    if not flags:
        return {"hits": 0, "n": 0, "rate": None, "low": 0.0, "high": 1.0}
    low, high = binomial_interval(sum(flags), len(flags))
    return {"hits": sum(flags), "n": len(flags), "rate": sum(flags) / len(flags), "low": low, "high": high}


def spread(done: Sequence[Comparison]) -> dict[str, Any]:
    """How the log ratio of identical arms differs from process to process.

    Returns:
        `sd`, and `robust_sd` from the median absolute deviation: far below `sd` where a few processes were disturbed.
    """
    values = np.array([value for one in done if one.extra == 0.0 for value in one.log_ratios])
    if values.size < 2:
        return {"sd": None, "robust_sd": None, "processes": int(values.size)}
    deviation = float(np.median(np.abs(values - np.median(values))))
    return {"sd": float(values.std(ddof=1)), "robust_sd": 1.4826 * deviation, "processes": int(values.size)}


def target(done: Sequence[Comparison]) -> dict[str, Any]:
    """The target beside what was measured; `met` is None where nothing was, or where the machine is too noisy."""
    harness, sd = _row(HARNESS, done), spread(done)["sd"]
    false, found = harness["false_alarms"]["rate"], harness["found"].get(f"{TARGET_EXTRA:.0%}", {}).get("rate")
    met = None
    if None not in (false, found, sd) and sd <= TARGET_SPREAD:
        met = false <= TARGET_FALSE and found >= TARGET_FOUND and harness["longest_seconds"] <= TARGET_SECONDS
    return {
        "says": f"at most {TARGET_FALSE:.0%} false alarms, at least {TARGET_FOUND:.0%} of {TARGET_EXTRA:.0%} slowdowns "
        f"found within {TARGET_SECONDS:g} s, where the spread is at most {TARGET_SPREAD:.0%}",
        "met": met,
        "false_alarms_not_excluded": harness["false_alarms"]["high"],
    }


def noise(done: Sequence[Comparison]) -> dict[str, Any]:
    """In how many comparisons the machine was not quiet, and the first few reasons."""
    reasons = [one.noise for one in done if one.noise]
    return {"comparisons": len(reasons), "of": len(done), "reasons": list(dict.fromkeys(reasons))[:5]}


# --- printing ------------------------------------------------------------------------------------------------


def render(report: Report, console: Console) -> None:
    """Print the report: the table, the spread, and whether the target is met."""
    table = Table("rule", title="verdicts on this machine (rate, hits of n, 95% interval)", title_justify="left")
    extras = list(report["rows"][0]["found"]) if report["rows"] else []
    for heading in ("false alarms", *(f"{extra} slower, found" for extra in extras), "s a verdict"):
        table.add_column(heading, justify="right")
    for row in report["rows"]:
        rates = [row["false_alarms"], *row["found"].values()]
        table.add_row(row["rule"], *(_spelled(rate) for rate in rates), _seconds(row["mean_seconds"]))
    console.print(table)
    console.print(_spread_line(report["spread"]))
    console.print(_target_line(report["target"]))
    busy = report["noise"]
    if busy["comparisons"]:
        console.print(f"Not quiet in {busy['comparisons']} of {busy['of']} comparisons: {'; '.join(busy['reasons'])}.")


def _spelled(rate: dict[str, Any]) -> str:
    if rate["rate"] is None:
        return "-"
    return f"{rate['rate']:.1%}\n{rate['hits']}/{rate['n']}, {rate['low']:.1%}-{rate['high']:.1%}"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _spread_line(found: dict[str, Any]) -> str:
    if found["sd"] is None:
        return "Process-level spread of the log ratio: not measured."
    return (
        f"Process-level sd of the log ratio: {found['sd']:.2%} over {found['processes']} processes of identical arms "
        f"({found['robust_sd']:.2%} from the median absolute deviation)."
    )


def _target_line(found: dict[str, Any]) -> str:
    verdicts = {True: "met by the rates seen", False: "not met", None: "not judged, too noisy or too little measured"}
    bound = f"false alarms up to {found['false_alarms_not_excluded']:.1%} are not excluded by this many comparisons"
    return f"Target: {found['says']}: {verdicts[found['met']]} ({bound})."


@click.command(epilog="\b\nExample:\n  runtwice selfcheck --quick --json selfcheck.json")
@click.option("--quick", is_flag=True, help="Under three minutes, with wider intervals.")
@click.option("--seed", default=0, show_default=True, help="Of the order and the processes.")
@click.option(
    "--json",
    "path",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    help="Write the report there as well.",
)
def selfcheck(quick: bool, seed: int, path: Path | None) -> None:
    """Measure on this machine how often a timing verdict is a false alarm, and how often it finds a slowdown."""
    if path is not None and not path.parent.is_dir():
        raise click.UsageError(f"--json: there is no folder {str(path.parent)!r}")
    console = Console()
    report = _with_progress(console, quick, seed)
    if path is not None:
        path.write_text(json.dumps(report, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    render(report, console)


def _with_progress(console: Console, quick: bool, seed: int) -> Report:
    """A bar on a terminal, one line otherwise."""
    if not console.is_terminal:
        console.print(f"selfcheck: timing identical and slowed arms, {'under 3' if quick else 'about 35'} minutes")
        return run(quick, seed=seed)
    with Bar(console=console, transient=True) as bar:
        task = bar.add_task("comparisons", total=None)
        return run(quick, lambda done, total: bar.update(task, completed=done, total=total), seed=seed)
