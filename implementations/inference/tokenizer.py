"""A token for each byte of UTF-8, and text that comes back a token at a time.

Follows: RFC 3629 and the Unicode standard's rule for broken sequences (one U+FFFD for each maximal part that began
well), through the incremental decoder of the standard library.
Leaves out: merges (`implementations.itl.tokenizer` has them), special tokens, other encodings.
"""

import codecs
from collections.abc import Iterable

VOCABULARY = 256
MOST_HELD_BYTES = 3  # of a character of four


def encode(text: str) -> list[int]:
    """The bytes of a text as ids.

    Raises:
        ValueError: a lone surrogate, which no UTF-8 stands for (UnicodeEncodeError).
    """
    return list(text.encode("utf-8"))


def decode(ids: Iterable[int]) -> str:
    """The text of all ids at once; U+FFFD for what is no UTF-8.

    Raises:
        ValueError: an id that is no byte.
    """
    return bytes(map(_checked, ids)).decode("utf-8", errors="replace")


class Detokenizer:
    """Turns ids into text as they come; what it gives, joined, is `decode` of all of them.

    A character of several bytes comes out with its last byte. What cannot become a character any more comes out as
    U+FFFD at once, so that never more than three bytes are held.
    """

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")

    def push(self, token: int) -> str:
        """The text that this token completes; "" where a character is still open.

        Raises:
            ValueError: an id that is no byte.
        """
        return self._decoder.decode(bytes([_checked(token)]))

    def flush(self) -> str:
        """What is left when the tokens have ended: U+FFFD for an open character, else ""."""
        return self._decoder.decode(b"", final=True)

    @property
    def held_bytes(self) -> int:
        """Bytes taken in that no text has come of yet, at most three."""
        return len(self._decoder.getstate()[0])


def _checked(token: int) -> int:
    if not 0 <= token < VOCABULARY:
        raise ValueError(f"token {token} is no byte; ids are 0 to {VOCABULARY - 1}")
    return token
