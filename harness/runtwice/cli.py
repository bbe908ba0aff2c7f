"""The command line: `runtwice list` and `runtwice show`, and the commands of other modules and rooms.

Exit status 2 and one line for anything that cannot be read or is not there.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click

from runtwice import __version__, catalogue, collection, completeness, foreign, ledger, terminal
from runtwice.annotations import annotated
from runtwice.claim import load_all
from runtwice.commands.claims_folder import claims_option, existing
from runtwice.commands.init import init
from runtwice.commands.report import report
from runtwice.errors import LedgerError, RuntwiceError, UnknownClaim
from runtwice.figure import as_printed
from runtwice.selfcheck import selfcheck
from runtwice.session import LOCAL

COMMAND_GROUP = "runtwice.commands"
# Commands of `runtwice.commands`, each in the module of its name.
LAZY = ("accept", "bisect", "diff", "history", "nightly")
# As a shell reports a program that SIGPIPE ended.
NO_READER = 141


class Commands(click.Group):
    """The built-in commands, those loaded when they are called, and those of the group `runtwice.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands, sorted."""
        return sorted(
            {*super().list_commands(ctx), *LAZY, *(entry.name for entry in entry_points(group=COMMAND_GROUP))}
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A command by name; a built-in one, or one that is loaded now."""
        built_in = super().get_command(ctx, cmd_name)
        if built_in is not None:
            return built_in
        if cmd_name in LAZY:
            lazy: click.Command = getattr(import_module(f"runtwice.commands.{cmd_name}"), cmd_name)
            return lazy
        found = entry_points(group=COMMAND_GROUP, name=cmd_name)
        command: click.Command | None = next((entry.load() for entry in found), None)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Call a command; one whose reader went away ends as a signal would have ended it, which is no verdict."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is flushed at the end has a place
            sys.exit(NO_READER)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command; a refusal is one line on standard error and exit status 2."""
        sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - closed by who called
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a sign still gets the rest
        try:
            return super().main(*args, **kwargs)
        except (RuntwiceError, OSError) as error:
            click.echo(f"runtwice: {foreign.line(str(error))}", err=True)
            sys.exit(2)


@click.group(
    cls=Commands,
    epilog="\b\nExample:\n  pytest claims/ -k itl && runtwice show && runtwice report -o site/\n"
    '\n\b\nCompletion in bash (zsh and fish likewise):\n  eval "$(_RUNTWICE_COMPLETE=bash_source runtwice)"',
)
@click.version_option(__version__, prog_name="runtwice")
def main() -> None:
    """Published performance claims as tests, each with a verdict and its evidence."""


_ledger_option = click.option(
    "--ledger",
    type=click.Path(path_type=Path),
    help=f"The ledger to read (default: the newest in {LOCAL}).",
)


def _ids(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Ids that begin as typed, for the shell's completion."""
    try:
        known = load_all(ctx.params.get("root") or Path("claims"))
    except RuntwiceError:
        return []
    return [id_ for id_ in sorted(known) if id_.startswith(incomplete)]


@main.command("list", epilog="\b\nExample:\n  runtwice list -k 'itl and not adversarial'")
@click.option("-k", "expression", default="", help="Only ids that match, as pytest's -k: 'itl and not adversarial'.")
@claims_option
def list_claims(expression: str, root: Path) -> None:
    """List claims: id, tier, kind and what the post says."""
    claims = _catalogue(root).claims
    chosen = [claim for claim in claims.values() if collection.matches(expression, claim.id)]
    if not claims:
        raise UnknownClaim(f"no claims below {str(root)!r}: no folder in it holds a claims.toml")
    if not chosen:
        raise UnknownClaim(f"no claim matches {expression!r}; `runtwice list` shows all {len(claims)}")
    width = max(len(claim.id) for claim in chosen)
    for claim in chosen:
        tier = "exempt" if claim.exempt else claim.tier
        click.echo(f"{claim.id:{width}}  {tier:8}  {claim.kind:9}  {foreign.line(claim.says)}")


@main.command(
    epilog="\b\nExample:\n  runtwice show itl.label-rule\n  runtwice show --ledger reports/xeon-2-cores/itl.json"
)
@click.argument("id", required=False, shell_complete=_ids)
@_ledger_option
@claims_option
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "github"]),
    default="text",
    show_default=True,
    help="github: annotations of a workflow run, one a claim that is not as declared.",
)
def show(id: str | None, ledger: Path | None, root: Path, form: str) -> None:  # noqa: A002 - its name on the command line
    """Show one claim — what the post says, how it is tested, its last evidence — or a whole ledger."""
    if form == "github":
        _annotate(id, ledger, root)
        return
    if id is None:
        _show_ledger(_read(ledger))
        return
    found = _catalogue(root)
    _check_known(found, id)
    for line in [*_described(found, id), *_evidence(id, ledger)]:  # all of it, or the refusal alone
        click.echo(foreign.line(line))


for _command in (init, report, selfcheck):
    main.add_command(_command)


@main.command("completeness", epilog="\b\nExample:\n  runtwice completeness")
@claims_option
def show_completeness(root: Path) -> None:
    """Say which claims of the inventory are tested, exempt, pending or missing; exit 1 if any is missing."""
    found = completeness.coverage(completeness.read_inventory(root), _catalogue(root))
    click.echo(f"{'topic':12}{'tested':>8}{'exempt':>8}{'pending':>9}{'missing':>9}{'unknown':>9}")
    for one in found:
        lists = (one.tested, one.exempt, one.pending, one.missing, one.unknown)
        click.echo(f"{one.topic:12}" + "".join(f"{len(ids):>{w}}" for ids, w in zip(lists, (8, 8, 9, 9, 9))))
    faults = [f"{kind} {id_}" for one in found for kind in ("missing", "unknown") for id_ in getattr(one, kind)]
    for fault in faults:
        click.echo(fault)
    sys.exit(1 if faults else 0)


def _check_known(found: catalogue.Catalogue, id_: str) -> None:
    if id_ not in found.claims:
        raise UnknownClaim(f"no claim {id_!r}{_nearest(id_, list(found.claims))}; `runtwice list` shows all")


def _annotate(id_: str | None, path: Path | None, root: Path) -> None:
    found = _catalogue(root)
    if id_ is not None:
        _check_known(found, id_)
    rows = sorted(_read(path).rows.values(), key=lambda row: str(row["id"]))
    for line in annotated([row for row in rows if id_ in (None, row["id"])], found):
        click.echo(line)


def _show_ledger(found: ledger.Ledger) -> None:
    rows = sorted(found.rows.values(), key=lambda row: row["id"])
    click.echo(f"{found.path}: {found.completeness}")
    processor = found.cpu.get("brand_raw") or "unknown processor"
    python = found.block["environment"].get("python") or "unknown"
    click.echo(foreign.line(f"{processor}, Python {python}"))
    out = terminal.console(sys.stdout, colour=sys.stdout.isatty())
    terminal.summary(out, rows, verbose=False)


def _described(found: catalogue.Catalogue, id_: str) -> Iterator[str]:
    claim = found.claims[id_]
    yield id_
    yield f"  says      {claim.says}"
    yield f"  post      {claim.post} ({claim.kind}, {claim.tier or 'no tier'})"
    for title, figures in (("printed", claim.printed), ("required", claim.required)):
        for name, figure in figures.items():
            yield f"  {title:9} {name} = {as_printed(figure)}"
    for name, value in claim.given.items():
        yield f"  given     {name} = {value}"
    for title, text in (("stand-in", claim.stand_in), ("note", claim.note), ("exempt", claim.exempt)):
        if text:
            yield f"  {title:9} {text}"
    for test in found.tests.get(id_, []):
        yield f"  tested by {test.path}:{test.line} {test.function}"
        yield f"            {' '.join(test.docstring.split())}"


def _evidence(id_: str, path: Path | None) -> Iterator[str]:
    try:
        chosen = path or ledger.newest(LOCAL)
    except LedgerError:
        yield f"  evidence  none yet: no ledger in {LOCAL}"
        return
    found = ledger.read(chosen)
    row = found.rows.get(id_)
    if row is None:
        yield f"  evidence  none in {found.path} ({found.completeness})"
        return
    yield f"  verdict   {row['verdict']} (declared {row['declared']}): {row['reason']}"
    if row["because"]:
        yield f"  because   {row['because']}"
    for figure in row["figures"]:
        yield f"  measured  {terminal.figure(figure)}"
    for name, sample in row["samples"].items():
        yield f"  sample    {name}: {len(sample)} values, {min(sample):.4g} to {max(sample):.4g}"
    yield f"  ledger    {found.path} ({found.block['created']}), {row['seconds']:.2f} s"


def _read(path: Path | None) -> ledger.Ledger:
    return ledger.read(path or ledger.newest(LOCAL))


def _catalogue(root: Path) -> catalogue.Catalogue:
    return catalogue.read(existing(root))


def _nearest(id_: str, known: list[str]) -> str:
    near = get_close_matches(id_, known, n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""
