"""`runtwice accept`: take a confirmed change into the reference ledger."""

from __future__ import annotations

from pathlib import Path

import click

from runtwice import environment, ledger
from runtwice.accept import accept as take
from runtwice.nightly import GOOD
from runtwice.session import LOCAL


@click.command(epilog="\b\nExample:\n  runtwice accept grid.grid-deterministic --when 'scikit-learn>=1.9'")
@click.argument("ids", nargs=-1, required=True, metavar="ID…")
@click.option(
    "--ledger", "source", type=click.Path(path_type=Path), help=f"Where it was found (default: newest in {LOCAL})."
)
@click.option(
    "--reference",
    type=click.Path(path_type=Path),
    default=GOOD,
    show_default=True,
    help="The ledger that moves forward.",
)
@click.option("--when", default="", metavar="CONDITION", help="Where it is true: 'scikit-learn>=1.9', 'cpu:AVX2', …")
def accept(ids: tuple[str, ...], source: Path | None, reference: Path, when: str) -> None:
    """Print the declaration to paste for each claim ID, and move the reference ledger forward."""
    if when:
        environment.satisfies(when)  # refuses what is no condition
    judged = ledger.read(source or ledger.newest(LOCAL))
    for one in take(ids, judged, ledger.read(reference), when):
        click.echo(one.declaration)
        click.echo(f"# {reference}: {one.id} was {one.before or 'not there'}, is {one.after}", err=True)
