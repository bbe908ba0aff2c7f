"""The option that says where the topics are, and the refusal where they are not; commands on claims share both."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from runtwice.errors import UnknownClaim

_Command = TypeVar("_Command", bound=Callable[..., Any] | click.Command)


def claims_option_for(purpose: str) -> Callable[[_Command], _Command]:
    """The option `--claims`, as `root`, of a command that says what it wants of the folder."""
    return click.option(
        "--claims",
        "root",
        type=click.Path(path_type=Path, file_okay=False),
        default=Path("claims"),
        show_default=True,
        help=purpose,
    )


claims_option = claims_option_for("The folder that holds the topics.")


def existing(root: Path) -> Path:
    """The folder, where there is one.

    Raises:
        UnknownClaim: there is no folder of that name.
    """
    if not root.is_dir():
        raise UnknownClaim(f"no folder {str(root)!r} here; run from the project's root, or name it with --claims")
    return root
