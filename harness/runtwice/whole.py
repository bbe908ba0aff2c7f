"""Files that are written whole or not at all: what stood there before stays until the new text is on the disk."""

from __future__ import annotations

import os
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Write a text beside its place and rename it there; through a link, to what it leads to.

    What is no file of its own (`/dev/stdout`, a pipe) is written as it is.

    Raises:
        OSError: nothing can be written there; it has the path as its file name, and nothing is left behind.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8", newline="") as file:
                file.write(text)
        else:
            _renamed(Path(os.path.realpath(path)), text)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None


def _renamed(place: Path, text: str) -> None:
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with beside.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
        if place.exists():
            beside.chmod(place.stat().st_mode & 0o777)
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)  # it has another name by now, or was not to be written
