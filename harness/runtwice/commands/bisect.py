"""`runtwice bisect`: which release of which package changed a claim."""

from __future__ import annotations

import sys
from pathlib import Path

import click
from packaging.requirements import InvalidRequirement, Requirement

from runtwice import catalogue, environment, ledger, oracle
from runtwice.bisect import Answer, Bisection, folder
from runtwice.claim import Claim
from runtwice.commands.claims_folder import claims_option, existing
from runtwice.errors import BisectError
from runtwice.sandbox import Builder


@click.command(
    epilog="\b\nExample:\n  runtwice bisect grid.grid-deterministic --from old.json --to new.json\n"
    "  runtwice bisect tpe.tpe-has-memory --package optuna --good 3.4.1 --bad 5.0.0"
)
@click.argument("id")
@click.option(
    "--from", "old", type=click.Path(path_type=Path), metavar="LEDGER", help="Where the claim was as it should be."
)
@click.option("--to", "new", type=click.Path(path_type=Path), metavar="LEDGER", help="Where it is not.")
@click.option("--package", help="Or one package, between two of its versions:")
@click.option("--good", metavar="VERSION", help="the claim is as it should be with this one,")
@click.option("--bad", metavar="VERSION", help="and not with this one.")
@click.option(
    "--figure",
    default="",
    metavar="NAME",
    help="Follow this figure (default: verdict, effect or figures, whichever differs).",
)
@click.option(
    "--with",
    "extra",
    multiple=True,
    metavar="REQUIREMENT",
    help="Also in every environment, such as 'numpy<2' (repeatable).",
)
@click.option("--pre", is_flag=True, help="Try pre-releases.")
@click.option("--yanked", is_flag=True, help="Try releases that the package index has withdrawn.")
@claims_option
def bisect(
    id: str,  # noqa: A002 - the argument's name on the command line
    old: Path | None,
    new: Path | None,
    package: str | None,
    good: str | None,
    bad: str | None,
    figure: str,
    extra: tuple[str, ...],
    pre: bool,
    yanked: bool,
    root: Path,
) -> None:
    """Find the release that changed the claim ID: between two ledgers, or two versions of one package.

    Interrupted, it goes on where it was. Exit status 0 where two neighbouring releases were found, 1 where only a range
    was, 2 where there is nothing to find or no way to look.
    """
    project = oracle.project_root(existing(root))
    found = catalogue.read(root)
    asked = oracle.question(project, found, id)
    _check(found.claims[id], figure, extra)

    def say(text: str) -> None:
        click.echo(text, err=True)

    def bisection(*ends: object) -> Bisection:
        kept = folder(project, asked, ends, sorted(extra))
        return Bisection(
            oracle.Oracle(asked, Builder(say=say), kept, say), extra, figure, pre=pre, yanked=yanked, say=say
        )

    if old and new and not (package or good or bad):
        one, other = ledger.read(old), ledger.read(new)
        answer = bisection(one.block["created"], other.block["created"]).by_ledgers(one, other)
    elif package and good and bad and not (old or new):
        holds = environment.distributions()
        answer = bisection(package, good, bad).by_releases(package, good, bad, holds)
    else:
        raise BisectError("give --from and --to, or --package with --good and --bad")
    _print(answer)
    sys.exit(0 if answer.is_settled else 1)


def _check(claim: Claim, figure: str, extra: tuple[str, ...]) -> None:
    """Refuse what can be known to be wrong before the first environment is built."""
    if figure and figure not in claim.figures:
        known = ", ".join(claim.figures) or "none"
        raise BisectError(f"{claim.id} has no figure {figure!r}; its figures are {known}")
    for requirement in extra:
        try:
            Requirement(requirement)
        except InvalidRequirement:
            raise BisectError(f"--with {requirement!r} is no requirement; write it like 'numpy<2'") from None


def _print(answer: Answer) -> None:
    click.echo(f"ledgers of every step: {answer.folder}", err=True)
    for sentence in answer.sentences():
        click.echo(sentence)
