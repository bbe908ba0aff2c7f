"""The pytest plugin: collects claims, runs them, reports their verdicts and keeps the ledger.

A claim's verdict is drawn in a wrapper around the call (drawn in a fixture's teardown it would read "passed, then
error"). `report.outcome` stays passed, failed or skipped; the row travels on the report, so that it reaches the
controller under xdist, and the verdict in `user_properties`, so that it reaches JUnit.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings as hypothesis_settings

from runtwice import catalogue, collection, environment, fingerprint, row, terminal
from runtwice.claim import DATA_FILE, TIERS, Declaration
from runtwice.collection import Bound
from runtwice.errors import ClaimError, EvidenceError, LedgerError
from runtwice.fixtures import BOUND, EVIDENCE, SESSION, evidence, sweep  # noqa: F401 - the fixtures register here
from runtwice.properties import PROFILES
from runtwice.session import Session
from runtwice.sweep import Progress
from runtwice.verdict import Conclusion, Verdict

ROW = pytest.StashKey[dict[str, Any]]()
OWNERS = pytest.StashKey[dict[str, str]]()

for _name, _profile in PROFILES.items():
    hypothesis_settings.register_profile(_name, _profile)


# --- options and the session -----------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the claims."""
    group = parser.getgroup("claims", "published claims")
    group.addoption("--tier", choices=TIERS, default="standard", help="run claims up to this tier; gpu stands alone")
    group.addoption("--topic", action="append", default=[], help="run the claims of this topic only (repeatable)")
    group.addoption("--claim", action="append", default=[], metavar="GLOB", help="run matching ids only (repeatable)")
    group.addoption(
        "--ledger", type=Path, metavar="PATH", help="where to write (default: reports/local/<UTC time>.json)"
    )
    group.addoption("--resume", type=Path, metavar="LEDGER", help="go on from a run that was killed or interrupted")
    group.addoption("--strict-undecided", action="store_true", help="fail where a noisy machine left a claim undecided")


def pytest_configure(config: pytest.Config) -> None:
    """Start the run's state; let a topic that does not import leave the others their verdicts."""
    worker = getattr(config, "workerinput", {})
    path = Path(worker["runtwice_ledger"]) if worker else config.getoption("--ledger")
    session = Session(
        config.rootpath, path, config.getoption("--resume"), worker.get("workerid", ""), _progress(config)
    )
    config.stash[SESSION] = session
    config.stash[OWNERS] = {}
    try:
        session.load_carried()
    except LedgerError as error:
        raise pytest.UsageError(str(error)) from None
    if any(_holds_claims(config, argument) for argument in config.args):
        config.option.continue_on_collection_errors = True
        environment.fix_threads()
    _group_by_topic(config)


def _holds_claims(config: pytest.Config, argument: str) -> bool:
    folder = (config.invocation_params.dir / argument.split("::", 1)[0]).resolve()
    return folder.is_dir() and any(folder.glob(f"**/{DATA_FILE}"))


def _group_by_topic(config: pytest.Config) -> None:
    """Under xdist keep a topic on one worker, so that its shared experiments run once; `--dist` overrules."""
    given = any(str(argument).startswith("--dist") for argument in config.invocation_params.args)
    if getattr(config.option, "dist", "no") == "load" and not given:
        config.option.dist = "loadgroup"


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell an xdist worker where the ledger is, since its sweeps are kept beside it."""
    node.workerinput["runtwice_ledger"] = str(node.config.stash[SESSION].path)


def _progress(config: pytest.Config) -> Progress:
    @contextmanager
    def show(what: str, total: int) -> Iterator[Callable[[], None]]:
        capture = config.pluginmanager.getplugin("capturemanager")
        if capture is None or hasattr(config, "workerinput"):
            yield lambda: None
            return
        with capture.global_and_fixture_disabled():
            out = terminal.console(sys.stderr, colour=sys.stderr.isatty())
            with terminal.progress_bar(out, what, total) as advance:
                yield advance

    return show


# --- collection ------------------------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> None:
    """Refuse, where its module is collected, a test that breaks the rules of a claim."""
    if not callable(obj) or isinstance(obj, type) or not collector.funcnamefilter(name):  # type: ignore[attr-defined]
        return
    try:
        bound = collection.bind(obj, collector.path, _marks(collector, obj))
        if bound is not None:
            _own(collector.config, bound.claim.id, f"{collector.nodeid}::{name}")
    except ClaimError as error:
        raise collector.CollectError(str(error)) from None


def _marks(collector: pytest.Collector, test: Any) -> list[str]:
    own = getattr(test, "pytestmark", [])
    return [mark.name for mark in (*own, *collector.iter_markers())]


def _own(config: pytest.Config, claim_id: str, nodeid: str) -> None:
    owner = config.stash[OWNERS].setdefault(claim_id, nodeid)
    if owner != nodeid:
        raise ClaimError(f"claim {claim_id!r} has two tests: {owner} and {nodeid}; one claim, one test")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Bind the test to its claim, and make the claim's id a keyword for `-k`."""
    if not isinstance(item, pytest.Function) or not hasattr(item.obj, "__claim__"):
        return
    bound = collection.bind(item.obj, item.path, [])
    if bound is not None:
        item.stash[BOUND] = bound
        item.extra_keyword_matches.add(bound.claim.id)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect claims outside the tiers, topics and ids that were asked for; group the rest by topic for xdist."""
    tiers = collection.chosen_tiers(config.getoption("--tier"))
    topics, globs = config.getoption("--topic"), config.getoption("--claim")
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        bound = item.stash.get(BOUND, None)
        wanted = bound is None or collection.selected(bound.claim, tiers, topics, globs)
        (kept if wanted else dropped).append(item)
        if bound is not None and config.pluginmanager.hasplugin("xdist"):
            item.add_marker(pytest.mark.xdist_group(bound.claim.topic))
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def pytest_collection_finish(session: pytest.Session) -> None:
    """Open the journal for the selected claims."""
    bounds = [item.stash.get(BOUND, None) for item in session.items]
    _start(session.config, [bound.claim.id for bound in bounds if bound is not None])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Open the journal on the controller, which collects nothing itself."""
    root = node.config.rootpath
    found = (_id_of(root, nodeid) for nodeid in ids)
    _start(node.config, [claim_id for claim_id in found if claim_id])


def _id_of(root: Path, nodeid: str) -> str | None:
    path, _, function = nodeid.split("@", 1)[0].partition("::")
    tests = catalogue.tests_in(root / path) if (root / path).is_file() else []
    return next((test.id for test in tests if test.function == function.rsplit("::", 1)[-1]), None)


def _start(config: pytest.Config, selection: list[str]) -> None:
    if config.option.collectonly:
        return
    try:
        config.stash[SESSION].start(selection, list(map(str, config.invocation_params.args)))
    except LedgerError as error:
        raise pytest.UsageError(str(error)) from None


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note the claims of a module that does not import; they are rows of verdict `error`."""
    if report.failed and report.nodeid.endswith(".py"):
        _broken_modules.append((report.nodeid, str(report.longrepr).strip().splitlines()[-1]))


_broken_modules: list[tuple[str, str]] = []


def _broken_rows(root: Path) -> Iterator[dict[str, Any]]:
    for nodeid, reason in dict(_broken_modules).items():
        path = root / nodeid
        tests = catalogue.tests_in(path) if path.is_file() else []
        try:
            claims = collection.topic_claims(path.parent) if tests else {}
        except ClaimError:
            continue
        for test in tests:
            if test.id in claims:
                claim = claims[test.id]
                conclusion = Conclusion(Verdict.ERROR, f"{nodeid} was not collected: {reason}")
                yield row.build(claim, Declaration(test.id), claim.default_verdict, conclusion, nodeid=nodeid)


# --- running one claim -----------------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:  # noqa: ARG001
    """Carry over the row of a resumed run without running the claim again."""
    bound = item.stash.get(BOUND, None)
    if bound is None:
        return None
    carried = item.config.stash[SESSION].carried_row(bound.claim.id, lambda: _fingerprint(item, {}))
    if carried is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    item.ihook.pytest_runtest_logreport(report=_carried_report(item, carried))
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _carried_report(item: pytest.Item, carried: dict[str, Any]) -> pytest.TestReport:
    report = pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords=dict.fromkeys(item.keywords, 1),
        outcome="passed" if carried["as_declared"] else "failed",
        longrepr=None if carried["as_declared"] else _failure_text(carried),
        when="call",
        user_properties=_properties(carried),
    )
    report.claim_row = carried  # type: ignore[attr-defined]
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a claim that lacks something, before any fixture is built for it."""
    bound = item.stash.get(BOUND, None)
    if bound is None:
        return
    shared = hasattr(item.config, "workerinput")
    lacking = [lack for need in bound.claim.needs if (lack := environment.missing(need, machine_shared=shared))]
    if lacking:
        pytest.skip(f"needs {', '.join(lacking)}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Run the test under the claims' hypothesis profile, draw the conclusion, and hold it against the declaration."""
    bound = item.stash.get(BOUND, None)
    if bound is None:
        return (yield)
    start = time.perf_counter()
    failure: BaseException | None = None
    try:
        with _profile_of(item.config):
            yield
        conclusion = item.stash[EVIDENCE].conclude()
    except (KeyboardInterrupt, pytest.exit.Exception):
        raise
    except pytest.skip.Exception as skipped:
        conclusion, failure = Conclusion(Verdict.NOT_RUN, str(skipped)), skipped
    except EvidenceError as error:
        conclusion = Conclusion(Verdict.ERROR, str(error))
    except BaseException as error:
        conclusion, failure = Conclusion(Verdict.ERROR, f"{type(error).__name__}: {error}"), error
    found = _row(item, bound, conclusion, time.perf_counter() - start)
    item.stash[ROW] = found
    _hold_against_declaration(item, found, failure)
    return None


def _hold_against_declaration(item: pytest.Item, found: dict[str, Any], failure: BaseException | None) -> None:
    strict = item.config.getoption("--strict-undecided") and found["reason"].startswith("noisy machine")
    if found["verdict"] == Verdict.NOT_RUN:
        raise failure if failure is not None else pytest.skip.Exception(found["reason"])
    if found["as_declared"] and not strict:
        return
    if failure is not None:
        raise failure
    pytest.fail(_failure_text(found), pytrace=False)


@contextmanager
def _profile_of(config: pytest.Config) -> Iterator[None]:
    """The profile `claims`, unless another was asked for by `--hypothesis-profile`."""
    if config.getoption("--hypothesis-profile", None):
        yield
        return
    before = getattr(hypothesis_settings, "_current_profile", None) or "default"
    hypothesis_settings.load_profile("claims")
    try:
        yield
    finally:
        hypothesis_settings.load_profile(before)


def _row(item: pytest.Item, bound: Bound, conclusion: Conclusion, seconds: float) -> dict[str, Any]:
    measured = item.stash.get(EVIDENCE, None)
    return row.build(
        bound.claim,
        bound.declaration,
        bound.declaration.expected(bound.claim.default_verdict, environment.satisfies),
        conclusion,
        evidence=measured,
        nodeid=item.nodeid.split("@", 1)[0],
        seconds=seconds,
        fingerprint=_fingerprint(item, measured.measuring if measured else {}),
    )


def _fingerprint(item: pytest.Item, settings: dict[str, Any]) -> dict[str, Any]:
    info = item._fixtureinfo  # type: ignore[attr-defined] # pytest has no public way to the fixtures of an item
    functions = [definitions[-1].func for definitions in info.name2fixturedefs.values()]
    root = item.config.rootpath
    fixtures = {
        (Path(function.__code__.co_filename), function.__name__)
        for function in functions
        if hasattr(function, "__code__")
        and root in Path(function.__code__.co_filename).parents
        and "harness" not in Path(function.__code__.co_filename).relative_to(root).parts
    }
    test = (item.path, item.function.__name__)  # type: ignore[attr-defined]
    return fingerprint.fingerprint(root, test, fixtures, settings)


def _failure_text(found: dict[str, Any]) -> str:
    lines = [
        f"{found['id']}: {found['verdict']}, declared {found['declared']}",
        found["reason"],
        *(terminal.figure(one) for one in found["figures"] if one["agreement"] != "exact"),
    ]
    if found["verdict"] not in (Verdict.ERROR, Verdict.UNDECIDED):
        lines.append(f"If this is what is true here: @claim({found['id']!r}, expect={found['verdict']!r}, because='…')")
    return "\n".join(lines)


# --- reporting -------------------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """Put the claim's row on the report of its call, or of a setup that ended it."""
    report = yield
    bound = item.stash.get(BOUND, None)
    if bound is None or report.when == "teardown" or (report.when == "setup" and report.passed):
        return report
    if report.when == "setup":
        item.stash[ROW] = _row(item, bound, _setup_conclusion(call, skipped=report.skipped), 0.0)
    if ROW in item.stash:  # not where the run was interrupted
        report.claim_row = item.stash[ROW]
        report.user_properties = [*report.user_properties, *_properties(item.stash[ROW])]
    return report


def _setup_conclusion(call: pytest.CallInfo[None], *, skipped: bool) -> Conclusion:
    error = call.excinfo.value if call.excinfo else None
    if skipped:
        return Conclusion(Verdict.NOT_RUN, str(error))
    return Conclusion(Verdict.ERROR, f"setup: {type(error).__name__}: {error}")


def _properties(found: dict[str, Any]) -> list[tuple[str, object]]:
    return [(key, found[name]) for key, name in (("claim", "id"), ("verdict", "verdict"), ("declared", "declared"))]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Journal the row, on the process that keeps the ledger."""
    found = getattr(report, "claim_row", None)
    if found is not None and _keeper is not None:
        _keeper.add(found)


_keeper: Session | None = None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Remember who keeps the rows: reports reach a hook that is not given the config."""
    global _keeper
    _keeper = session.config.stash[SESSION]
    _broken_modules.clear()


def pytest_report_teststatus(report: Any) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Category, letter and word of a claim: its verdict, and `failed` only where that is not as declared."""
    found = getattr(report, "claim_row", None)
    if found is None:
        return None
    verdict = Verdict(found["verdict"])
    if report.failed:
        category, letter = ("failed", "F") if report.when == "call" else ("error", "E")
        return category, letter, (f"{verdict.upper()} (declared {found['declared']})", {"red": True})
    category = "undecided: noisy machine" if verdict is Verdict.UNDECIDED else verdict.value
    return category, terminal.LETTERS[verdict], (verdict.upper(), {"green": verdict is Verdict.HOLDS})


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Write the ledger; a run in which no claim was judged does not pass."""
    run = session.config.stash[SESSION]
    broken = list(_broken_rows(session.config.rootpath)) if not run.worker else []
    if broken:
        _start(session.config, [found["id"] for found in broken])
        for found in broken:
            run.add(found)
    run.finish()
    judged = [found for found in run.rows.values() if found["verdict"] != Verdict.NOT_RUN]
    if run.rows and not judged and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the table of verdicts and where the ledger is."""
    run = config.stash[SESSION]
    if not run.rows:
        return
    writer = terminalreporter._tw
    terminalreporter.section("claims")
    out = terminal.console(writer._file, colour=writer.hasmarkup, width=writer.fullwidth)
    rows = sorted(run.rows.values(), key=lambda found: found["id"])
    terminal.summary(out, rows, verbose=config.option.verbose > 0)
    if all(found["verdict"] == Verdict.NOT_RUN for found in rows):
        terminalreporter.write_line("no claim was judged: every selected one was not run", red=True)
    if run.written is not None:
        terminalreporter.write_line(f"ledger: {_relative(run.written)}")


def _relative(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_machine_info(config: pytest.Config, machine_info: dict[str, Any]) -> None:  # noqa: ARG001
    """Add to pytest-benchmark's own files what they lack: distributions, BLAS kernels, thread settings."""
    machine_info["runtwice"] = environment.describe()
