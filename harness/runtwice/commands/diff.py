"""`runtwice diff`: what changed between two ledgers."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from runtwice import ledger
from runtwice.compare import compare
from runtwice.comparison_formats import FORMATS


@click.command(epilog="\b\nExample:\n  runtwice diff old.json new.json --format markdown")
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    default="table",
    show_default=True,
    help="github: annotations of a workflow run.",
)
def diff(old: Path, new: Path, form: str) -> None:
    """Say what changed from the ledger OLD to the ledger NEW.

    Exit status 0 if nothing did, 1 if something did, 2 if the two cannot be compared.
    """
    found = compare(ledger.read(old), ledger.read(new))
    click.echo(FORMATS[form](found))
    sys.exit(1 if found.counted else 0)
