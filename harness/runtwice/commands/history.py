"""`runtwice history`: claims over time, from a folder of ledgers."""

from __future__ import annotations

import io
from pathlib import Path

import click

from runtwice import foreign, timeline, whole
from runtwice.comparison_formats import sentence
from runtwice.errors import LedgerError
from runtwice.history import History, read, write_csv


@click.command(epilog="\b\nExample:\n  runtwice history reports/nightly --csv claims.csv --plot claims.svg")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@click.option("--claim", "globs", multiple=True, metavar="GLOB", help="Only matching ids (repeatable).")
@click.option(
    "--csv", "table", type=click.Path(path_type=Path, dir_okay=False), help="Write every claim of every ledger here."
)
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), metavar="SVG", help="Draw it.")
def history(folder: Path, globs: tuple[str, ...], table: Path | None, plot: Path | None) -> None:
    """Show when claims changed in the ledgers below DIR, and which packages changed with them."""
    found = read(folder, globs)
    if found.passed_over:
        click.echo(f"{len(found.passed_over)} JSON files are no ledgers", err=True)
    _print(found)
    try:
        if table is not None:
            lines = io.StringIO(newline="")
            write_csv(found, lines)
            whole.write(table, lines.getvalue())
        if plot is not None:
            whole.write(plot, timeline.draw(found))
    except OSError as error:
        raise LedgerError(f"{error.filename} cannot be written: {error.strerror}") from None


def _print(found: History) -> None:
    ids = {entry.id for entry in found.entries}
    click.echo(f"{len(ids)} claims in {len(found.ledgers)} ledgers, {len(found.changes)} times something changed")
    for entry in found.changes:
        click.echo(f"{entry.created}  {entry.id}  ({entry.found.path})")
        for change in entry.changes:
            click.echo(foreign.line(f"    {sentence(change)}"))
