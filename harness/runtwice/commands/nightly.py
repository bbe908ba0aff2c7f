"""`runtwice nightly`: the newest releases against the last good night."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import click

from runtwice.claim import TIERS
from runtwice.commands.claims_folder import claims_option, existing
from runtwice.nightly import FOLDER, Nightly, Page, Selection
from runtwice.oracle import project_root


@click.command(epilog="\b\nExample:\n  runtwice nightly --claim 'grid.*' --out reports/nightly")
@click.option(
    "--tier", type=click.Choice(TIERS), default="standard", show_default=True, help="Run claims up to this tier."
)
@click.option("--topic", "topics", multiple=True, help="Run the claims of this topic only (repeatable).")
@click.option("--claim", "globs", multiple=True, metavar="GLOB", help="Run matching ids only (repeatable).")
@click.option(
    "--reference",
    type=click.Path(path_type=Path),
    help="The last good ledger (default: good.json in the folder of nights).",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=FOLDER,
    show_default=True,
    help="The folder of nights.",
)
@click.option(
    "--torch", is_flag=True, help="Take the newest torch, too; without it, torch stays at the version it has."
)
@click.option(
    "--bisections", type=click.IntRange(0), default=5, show_default=True, help="Bisect so many breaks at most."
)
@claims_option
def nightly(
    tier: str,
    topics: tuple[str, ...],
    globs: tuple[str, ...],
    reference: Path | None,
    out: Path,
    torch: bool,
    bisections: int,
    root: Path,
) -> None:
    """Run the claims under the newest releases and say what changed since the last good night.

    Exit status 1 only where a change was confirmed, 2 where the night could not be run.
    """
    night = Nightly(
        project_root(existing(root)),
        Selection(tier, topics, globs),
        out,
        reference,
        torch=torch,
        bisections=bisections,
        page=_page(),
        say=lambda text: click.echo(text, err=True),
    ).run()
    click.echo((night.folder / "summary.md").read_text(encoding="utf-8"))
    sys.exit(1 if night.broken else 0)


def _page() -> Page | None:
    """The function that writes a page, where this installation has what it draws with."""
    try:
        page: Page = import_module("runtwice.report").write_page
    except (ImportError, AttributeError):
        return None
    return page
