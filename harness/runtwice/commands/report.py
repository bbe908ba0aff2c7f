"""`runtwice report`: pages of one or more ledgers."""

from __future__ import annotations

from pathlib import Path

import click

from runtwice import ledger
from runtwice.commands.claims_folder import claims_option_for
from runtwice.errors import LedgerError, RuntwiceError
from runtwice.session import LOCAL


@click.command(
    epilog="\b\nExample:\n  runtwice report reports/xeon-2-cores/ -o site/\n"
    "  runtwice report reports/xeon-2-cores/itl.json reports/local/20261130T044755Z.json"
)
@click.argument("ledgers", nargs=-1, type=click.Path(path_type=Path), metavar="[LEDGER]...")
@click.option(
    "-o",
    "--output",
    "out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("reports", "site"),
    show_default=True,
    help="The folder to write to.",
)
@claims_option_for("The folder that holds the topics; without it the pages show what the ledgers alone know.")
@click.option("--title", default="", help="The heading of the first page.")
def report(ledgers: tuple[Path, ...], out: Path, root: Path, title: str) -> None:
    """Write pages that show claims, verdicts and evidence, to be read without a network.

    LEDGER is a ledger, or a folder of them; the newest in reports/local where none is given. Several are compared
    environment by environment. The first page shows all claims, and one a topic the evidence of each.
    """
    try:
        from runtwice.report.numerals import size
        from runtwice.report.site import known_claims, write_site
    except ImportError as fault:
        raise RuntwiceError(f"report needs Jinja and Matplotlib ({fault}): pip install 'runtwice[report]'") from None
    by_path = {path: _read(path) for path in ledgers or (ledger.newest(LOCAL),)}
    found = [one for read in by_path.values() for one in read]
    if not found:
        raise LedgerError(f"no ledger in {', '.join(map(str, by_path))}")
    for path in (path for path, read in by_path.items() if not read):
        click.echo(f"passed over: no ledger in {path}", err=True)
    try:
        site = write_site(found, known_claims(root), root, out, title)
    except OSError as fault:
        raise RuntwiceError(f"{out}: the pages cannot be written: {fault}") from None
    for name, reason in site.lacking.items():
        click.echo(f"not drawn: {name} ({reason})", err=True)
    first, own = next(iter(site.pages.items()))
    every = sum(site.pages.values())
    click.echo(f"{first}: {len(site.pages)} pages, {size(every)}, the first {size(own)}")


def _read(path: Path) -> list[ledger.Ledger]:
    """A ledger, or those of a folder; what else lies in the folder is passed over, and said so."""
    if not path.is_dir():
        return [ledger.read(path)]
    found = []
    for one in sorted(path.glob("*.json")):
        try:
            found.append(ledger.read(one))
        except LedgerError as fault:
            click.echo(f"passed over: {fault}", err=True)
    return found
