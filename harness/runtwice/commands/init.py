"""`runtwice init`: a folder of claims to start from."""

from __future__ import annotations

from pathlib import Path

import click

from runtwice.starter import write

NEXT = """\
next:
  pytest claims/            # verdicts, and a ledger in reports/local/
  pytest claims/ -v         # one line a claim: measured beside printed
  runtwice show sorting.sorted-input-is-cheap
  runtwice report           # pages in reports/site/; needs runtwice[report]"""


@click.command(epilog="\b\nExample:\n  mkdir my-claims && cd my-claims && runtwice init && pytest claims/")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=Path())
def init(folder: Path) -> None:
    """Write a starting folder of claims: one claims.toml, one test, and what pytest needs to know.

    FOLDER is made where it is not there; without it, the current folder. Nothing that exists is written over.
    """
    for path in write(folder):
        click.echo(f"wrote {path}")
    click.echo(NEXT if folder == Path() else f"cd {folder}\n{NEXT}")
