"""The pytest plugin: collects claims, runs them, reports their verdicts and keeps the ledger.

A claim's verdict is drawn in a wrapper around the call (drawn in a fixture's teardown it would read "passed, then
error"). `report.outcome` stays passed, failed or skipped; the row travels on the report, so that it reaches the
controller under xdist, and the verdict in `user_properties`, so that it reaches JUnit.

What a run remembers is in its `Keeper`, registered when the run is configured: two runs in one process share nothing.
"""

from __future__ import annotations

import io
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from inspect import unwrap
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest
from hypothesis import settings as hypothesis_settings

from runtwice import catalogue, collection, environment, fingerprint, row, terminal
from runtwice.claim import TIERS, Declaration
from runtwice.cluster import Cluster
from runtwice.collection import Bound
from runtwice.errors import ClaimError, ClusterError, EvidenceError, LedgerError
from runtwice.fixtures import BOUND, EVIDENCE, SESSION, evidence, sweep  # noqa: F401 - the fixtures register here
from runtwice.local_workers import LocalWorkers
from runtwice.properties import PROFILES
from runtwice.session import Session
from runtwice.sweep import HERE, Progress, Workers
from runtwice.verdict import Conclusion, Verdict

ROW = pytest.StashKey[dict[str, Any]]()
PHASES = ("setup", "call", "teardown")
# pytest's own counts of the category `error` are of tests that did not get as far as a report.
NAMES = {Verdict.ERROR: "error, as declared"}

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
    group.addoption("--workers", type=int, metavar="N", help="run the seeds of sweeps in N processes of this machine")
    group.addoption(
        "--cluster", metavar="ADDRESS", help="run the seeds of sweeps on the Dask workers of tcp://host:port"
    )
    group.addoption("--first-seed", type=int, default=0, metavar="N", help="shift the seeds of every sweep by N")
    group.addoption("--strict-undecided", action="store_true", help="fail where a noisy machine left a claim undecided")


def pytest_configure(config: pytest.Config) -> None:
    """Start the run's state."""
    worker = getattr(config, "workerinput", {})
    path = Path(worker["runtwice_ledger"]) if worker else config.getoption("--ledger")
    session = Session(
        _root(config),
        path,
        config.getoption("--resume"),
        worker.get("workerid", ""),
        _progress(config),
        _workers(config),
        config.getoption("--first-seed"),
    )
    config.add_cleanup(session.close)
    config.stash[SESSION] = session
    config.pluginmanager.register(Keeper(config, session), "runtwice-keeper")
    try:
        session.load_carried()
    except LedgerError as error:
        raise pytest.UsageError(str(error)) from None


def _root(config: pytest.Config) -> Path:
    """The project's root: pytest's own, or where it was started while no file of settings says what the root is.

    Without such a file `pytest claims/` makes `claims/` its root; ledger and imports belong one folder up.
    """
    known = config.inipath is not None or config.getoption("rootdir", None)
    return config.rootpath if known else config.invocation_params.dir


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep a topic on one worker, unless `--dist` was given."""
    if any(str(argument).startswith("--dist") for argument in config.invocation_params.args):
        return None
    from runtwice.scheduling import TopicScheduling  # xdist may not be installed

    return TopicScheduling(config, log)


def _workers(config: pytest.Config) -> Workers | None:
    address, count = config.getoption("--cluster"), config.getoption("--workers")
    if count is not None and count < 1:
        raise pytest.UsageError(f"--workers {count}: at least 1 process is needed")
    if count is not None and address:
        raise pytest.UsageError("--workers and --cluster: the seeds of sweeps go to one or to the other")
    if count is not None and config.getoption("numprocesses", None):
        raise pytest.UsageError("--workers and -n: with --workers one process asks and the others run its seeds")
    if config.option.collectonly or not (count or address):
        return None
    if count is not None:
        return LocalWorkers(count)
    try:
        return Cluster(address)
    except ClusterError as error:
        raise pytest.UsageError(str(error)) from None


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


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Import the modules of claims under their hypothesis profile: a check at module level takes it up there."""
    if not isinstance(collector, pytest.Module) or not collection.is_topic(collector.path.parent):
        return (yield)
    with _profile_of(collector.config):
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect claims outside the tiers, topics and ids that were asked for; mark the topics for `--dist loadgroup`."""
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        bound = item.stash.get(BOUND, None)
        wanted = bound is None or collection.selected(bound.claim, *_choice(config))
        (kept if wanted else dropped).append(item)
        if bound is not None and config.pluginmanager.hasplugin("xdist"):
            item.add_marker(pytest.mark.xdist_group(bound.claim.topic))
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def _choice(config: pytest.Config) -> tuple[tuple[str, ...], list[str], list[str]]:
    """The tiers, topics and id patterns that were asked for."""
    tiers = collection.chosen_tiers(config.getoption("--tier"))
    return tiers, config.getoption("--topic"), config.getoption("--claim")


# --- what one run remembers ------------------------------------------------------------------------------------


class Keeper:
    """Keeps the claims and rows of one run, for the hooks that are not given its config.

    Args:
        config: The run's.
        session: Where rows go.
    """

    def __init__(self, config: pytest.Config, session: Session) -> None:
        self._config = config
        self._session = session
        self._owners: dict[str, str] = {}
        self._uncollected: dict[str, Conclusion] = {}
        self._rows_by_nodeid: dict[str, dict[str, Any]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_pycollect_makeitem(
        self, collector: pytest.Collector, name: str, obj: object
    ) -> Generator[None, Any, Any]:
        """Bind each test to its claim, and refuse, where its module is collected, one that breaks the rules."""
        made = yield
        items = [item for item in (made if isinstance(made, list) else [made]) if isinstance(item, pytest.Function)]
        marks = [mark.name for item in items for mark in item.iter_markers()]
        try:
            bound = collection.bind(obj, collector.path, marks, len(items))
            if bound is not None:
                self._own(bound.claim.id, f"{collector.nodeid}::{name}")
        except ClaimError as error:
            raise collector.CollectError(f"{collector.nodeid}: {error}") from None
        if bound is not None:
            items[0].stash[BOUND] = bound
            # A library's new warning is news about it, not a break of the claim: it is recorded.
            items[0].add_marker(pytest.mark.filterwarnings("default"))
            items[0].extra_keyword_matches.add(bound.claim.id)
        return made

    def _own(self, claim_id: str, nodeid: str) -> None:
        owner = self._owners.setdefault(claim_id, nodeid)
        if owner != nodeid:
            raise ClaimError(f"claim {claim_id!r} has two tests: {owner} and {nodeid}; one claim, one test")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note what was not collected: its claims get rows all the same, and other topics go on."""
        if report.passed:
            return
        verdict = Verdict.NOT_RUN if report.skipped else Verdict.ERROR
        self._uncollected[report.nodeid] = Conclusion(verdict, f"{report.nodeid} was not collected: {_told(report)}")
        path = self._config.rootpath / report.nodeid.partition("::")[0]
        if report.failed and collection.is_topic(path if path.is_dir() else path.parent):
            self._config.option.continue_on_collection_errors = True

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Open the journal for the selected claims."""
        bounds = [item.stash.get(BOUND, None) for item in session.items]
        self._start([bound.claim.id for bound in bounds if bound is not None])

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell an xdist worker where the ledger is, since its sweeps are kept beside it."""
        node.workerinput["runtwice_ledger"] = str(self._session.path)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:  # noqa: ARG002
        """Open the journal on the controller, which collects nothing itself."""
        tests = {path: catalogue.tests_below(path) for path in {self._path_of(nodeid) for nodeid in ids}}
        self._start([test.id for nodeid in ids for test in tests[self._path_of(nodeid)] if test.is_at(nodeid)])

    def _path_of(self, nodeid: str) -> Path:
        return self._config.rootpath / nodeid.partition("::")[0]

    def _start(self, selection: list[str]) -> None:
        if self._config.option.collectonly or self._session.selection:
            return
        lost = [found for found in self._uncollected_rows() if found is not None]
        if selection or lost:
            environment.fix_threads()
        try:
            command = [self._told(str(argument)) for argument in self._config.invocation_params.args]
            self._session.start([*selection, *(found["id"] for found in lost)], command)
        except LedgerError as error:
            raise pytest.UsageError(str(error)) from None
        for found in lost:
            self._session.add(found)

    def _told(self, argument: str) -> str:
        """An argument as the ledger tells it: paths from the project's root, and of those elsewhere only the name."""
        option, equals, value = argument.rpartition("=") if argument.startswith("--") else ("", "", argument)
        path = Path(value)
        if not path.is_absolute():
            return argument
        inside = path.is_relative_to(self._config.rootpath)
        return f"{option}{equals}{path.relative_to(self._config.rootpath).as_posix() if inside else path.name}"

    def _uncollected_rows(self) -> Iterator[dict[str, Any] | None]:
        for nodeid, conclusion in self._uncollected.items():
            path, inside = self._path_of(nodeid), nodeid.partition("::")[2]
            for test in catalogue.tests_below(path):
                if test.function.startswith(inside.replace("::", ".")):
                    yield self._row_without_test(test, conclusion)

    def _row_without_test(self, test: catalogue.TestSource, conclusion: Conclusion) -> dict[str, Any] | None:
        """The row of a claim whose test was not collected or did not come back; None where it was not asked for."""
        nodeid = f"{test.path.relative_to(self._config.rootpath).as_posix()}::{test.function.replace('.', '::')}"
        try:
            claim = collection.topic_claims(test.path.parent).get(test.id)
        except ClaimError:
            return None
        if claim is None or not collection.selected(claim, *_choice(self._config)):
            return None
        if not collection.matches(self._config.getoption("-k", "") or "", f"{nodeid} {test.id}"):
            return None
        return row.build(claim, Declaration(test.id), claim.default_verdict, conclusion, nodeid=nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep the row; where a worker died of a claim, that is its row."""
        if report.when not in PHASES:
            conclusion = Conclusion(Verdict.ERROR, _one_line(str(report.longrepr)))
            for test in catalogue.tests_below(self._path_of(report.nodeid)):
                if test.is_at(report.nodeid):
                    report.claim_row = self._row_without_test(test, conclusion)  # type: ignore[attr-defined]
        found = getattr(report, "claim_row", None)
        if found is not None:
            self._session.add(found)
            self._rows_by_nodeid[found["nodeid"]] = found

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str) -> None:
        """Keep what a claim's libraries warned of in its row; warnings come when the claim is through."""
        found = self._rows_by_nodeid.get(nodeid.partition("@")[0])
        if found is None or when != "runtest":
            return
        text = f"{warning_message.category.__name__}: {_one_line(str(warning_message.message))}"
        if text not in found["warnings"]:
            found["warnings"] = sorted([*found["warnings"], text])
            self._session.add(found)

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Write the ledger; a run in which no claim was judged does not pass."""
        run = self._session
        try:
            run.finish()
        except LedgerError as error:
            pytest.exit(str(error), returncode=pytest.ExitCode.INTERNAL_ERROR)
        judged = [found for found in run.rows.values() if found["verdict"] != Verdict.NOT_RUN]
        if run.rows and not judged and exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the table of verdicts and where the ledger is."""
        run = self._session
        if not run.rows:
            return
        terminalreporter.section("claims")
        writer = self._config.get_terminal_writer()
        # Through a text: pytest's writer knows what to do where the terminal lacks a sign.
        out = terminal.console(io.StringIO(), colour=writer.hasmarkup, width=writer.fullwidth)
        rows = sorted(run.rows.values(), key=lambda found: found["id"])
        terminal.summary(out, rows, verbose=self._config.option.verbose > 0)
        terminalreporter.write(out.file.getvalue())  # type: ignore[attr-defined]
        if all(found["verdict"] == Verdict.NOT_RUN for found in rows):
            terminalreporter.write_line("no claim was judged: every selected one was not run", red=True)
        if run.shares:
            terminalreporter.write_line(f"sweeps: {_shared_out(run.shares)}")
        if run.written is not None:
            terminalreporter.write_line(f"ledger: {_relative(run.written)}")


def _told(report: pytest.CollectReport) -> str:
    """The last line of what a collector said: the exception, or the reason it gave for skipping."""
    said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    lines = said.strip().splitlines() or ["no reason given"]
    return lines[-1].removeprefix("E ").strip().removeprefix(f"{report.nodeid}: ")


def _shared_out(shares: dict[str, Any]) -> str:
    """How many seeds ran on how many workers, and how many in this process."""
    counts = Counter[str]()
    for seeds in shares["sweeps"].values():
        counts.update({name: len(ran) for name, ran in seeds.items()})
    here = counts.pop(HERE, 0)
    return f"{counts.total()} seeds on {len(counts)} workers, {here} in this process"


def _relative(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


# --- running one claim -----------------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Carry over the row of a resumed run without running the claim again."""
    bound = item.stash.get(BOUND, None)
    if bound is None:
        return None
    carried = item.config.stash[SESSION].carried_row(bound.claim.id, lambda: _fingerprint(item, bound, {}))
    if carried is None:
        return None
    found = row.redeclared(carried, bound.declaration, _declared(bound))
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for when in PHASES:
        item.ihook.pytest_runtest_logreport(report=_carried_report(item, found, when))
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    # The item before tore down only what this one's module did not share; the rest is due now.
    item.session._setupstate.teardown_exact(nextitem)
    return True


def _carried_report(item: pytest.Item, found: dict[str, Any], when: Any) -> pytest.TestReport:
    failed = when == "call" and not found["as_declared"]
    report = pytest.TestReport(
        nodeid=item.nodeid,
        location=item.location,
        keywords=dict.fromkeys(item.keywords, 1),
        outcome="failed" if failed else "passed",
        longrepr=_failure_text(found) if failed else None,
        when=when,
        user_properties=_properties(found),
    )
    if when == "call":
        report.claim_row = found  # type: ignore[attr-defined]
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a claim that lacks something, before any fixture is built for it."""
    bound = item.stash.get(BOUND, None)
    item.config.stash[SESSION].timed = bound is not None and "quiet-machine" in bound.claim.needs
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
    except (pytest.skip.Exception, SkipTest) as skipped:
        conclusion, failure = Conclusion(Verdict.NOT_RUN, _one_line(str(skipped))), skipped
    except EvidenceError as error:
        conclusion = Conclusion(Verdict.ERROR, _one_line(str(error)))
    except pytest.xfail.Exception as error:
        conclusion = Conclusion(Verdict.ERROR, f"pytest.xfail({error}): declare the verdict, @claim(…, expect=…)")
    except BaseException as error:
        conclusion, failure = Conclusion(Verdict.ERROR, _named(error)), error
    found = _row(item, bound, conclusion, time.perf_counter() - start)
    item.stash[ROW] = found
    _hold_against_declaration(item, found, failure)
    return None


def _hold_against_declaration(item: pytest.Item, found: dict[str, Any], failure: BaseException | None) -> None:
    strict = item.config.getoption("--strict-undecided") and row.is_noisy(found)
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
    # Releases before `get_current_profile_name` have no public way.
    named = getattr(hypothesis_settings, "get_current_profile_name", lambda: hypothesis_settings._current_profile)
    before = named() or "default"
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
        _declared(bound),
        conclusion,
        evidence=measured,
        nodeid=item.nodeid.removesuffix(f"@{bound.claim.topic}"),
        seconds=seconds,
        fingerprint=_fingerprint(item, bound, measured.measuring if measured else {}),
    )


def _declared(bound: Bound) -> Verdict:
    return bound.declaration.expected(bound.claim.default_verdict, environment.satisfies)


def _fingerprint(item: pytest.Item, bound: Bound, settings: dict[str, Any]) -> dict[str, Any]:
    info = item._fixtureinfo  # type: ignore[attr-defined] # pytest has no public way to the fixtures of an item
    fixtures = [definition.func for definitions in info.name2fixturedefs.values() for definition in definitions]
    root = _root(item.config)
    own = [place for place in map(_place, fixtures) if place and fingerprint.is_first_party(root, place[0])]
    test = _place(item.function)  # type: ignore[attr-defined]
    return fingerprint.fingerprint(root, [*own, *([test] if test else [])], settings, bound.claim.data)


def _place(function: Any) -> tuple[Path, str] | None:
    """The file and qualified name of a function; None for what is not written in Python."""
    code = getattr(unwrap(function), "__code__", None)
    return None if code is None else (Path(code.co_filename), code.co_qualname)


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
        item.user_properties.extend(_properties(item.stash[ROW]))  # JUnit reads those of the teardown
        report.user_properties = list(item.user_properties)
    return report


def _setup_conclusion(call: pytest.CallInfo[None], *, skipped: bool) -> Conclusion:
    error = call.excinfo.value if call.excinfo else None
    if skipped:
        return Conclusion(Verdict.NOT_RUN, _one_line(str(error)))
    return Conclusion(Verdict.ERROR, f"setup: {_named(error)}")


def _named(error: BaseException | None) -> str:
    """The kind of an exception and the first line it says."""
    said = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _properties(found: dict[str, Any]) -> list[tuple[str, object]]:
    return [(key, found[name]) for key, name in (("claim", "id"), ("verdict", "verdict"), ("declared", "declared"))]


def pytest_report_teststatus(report: Any) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Category, letter and word of a claim: its verdict, and `failed` only where that is not as declared."""
    found = getattr(report, "claim_row", None)
    if found is None:
        return None
    verdict = Verdict(found["verdict"])
    if report.failed:
        category, letter = ("failed", "F") if report.when == "call" else ("error", "E")
        return category, letter, (f"{verdict.upper()} (declared {found['declared']})", {"red": True})
    category = NAMES.get(verdict, verdict.value) if not row.is_noisy(found) else "undecided: noisy machine"
    return category, terminal.LETTERS[verdict], (verdict.upper(), {"green": verdict is Verdict.HOLDS})


@pytest.hookimpl(optionalhook=True)
def pytest_benchmark_update_machine_info(config: pytest.Config, machine_info: dict[str, Any]) -> None:  # noqa: ARG001
    """Add to pytest-benchmark's own files what they lack: distributions, BLAS kernels, thread settings."""
    machine_info["runtwice"] = environment.libraries()
