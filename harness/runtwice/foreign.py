"""Text that others wrote, made fit for where it is shown.

A ledger's reasons, names and values may hold anything: line breaks, a terminal's control sequences, Markdown, HTML, a
spreadsheet's formulas. Nothing is left out; what would act is spelled instead.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

_BREAKS = re.compile(r"[ \t]*[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]\s*")
# Categories of characters that steer instead of showing something: control, format, halves of signs, separators.
_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")
_JOINERS = "\u200c\u200d"  # part of how some scripts, and some emoji, are written
_MARKDOWN = re.compile(r"[\\`|<>\[\]]")
_FORMULA = ("=", "+", "-", "@")


def visible(text: str) -> str:
    """The text with whatever steers a terminal spelled out, line breaks apart."""
    return "".join(char if char == "\n" or not _steers(char) else ascii(char)[1:-1] for char in text)


def line(text: str) -> str:
    """The text on one line."""
    return visible(_BREAKS.sub(" ", text))


def markdown(text: str) -> str:
    """The text on one line of Markdown, or in a cell of a table: as it reads, with nothing in it marking up."""
    return _MARKDOWN.sub(lambda found: {"<": "&lt;", ">": "&gt;"}.get(found[0], f"\\{found[0]}"), line(text))


def code(text: str) -> str:
    """The text as code in Markdown."""
    return f"`{line(text).replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def cell(value: Any) -> Any:
    """A value for a spreadsheet: a text that it would take for a formula begins with an apostrophe."""
    if isinstance(value, str) and value.lstrip().startswith(_FORMULA) and not _is_number(value):
        return f"'{value}"
    return value


def _steers(char: str) -> bool:
    return unicodedata.category(char) in _STEERING and char not in _JOINERS


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
