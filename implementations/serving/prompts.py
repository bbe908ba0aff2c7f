"""Prompts to measure with: a text a request, no two alike, so that a server's prefix cache helps with none.

Leaves out: any meaning.
"""

import random

SYLLABLES = ("ba", "den", "fi", "gor", "hal", "ki", "lum", "mer", "no", "pas", "ri", "sol", "tev", "un", "vo", "zet")


def prompts(count: int, length_bytes: int, seed: int = 0) -> list[str]:
    """Made-up words up to a length.

    Args:
        count: texts.
        length_bytes: of each; all signs are ASCII, so a byte is a character.
        seed: of the draw.

    Raises:
        ValueError: a negative count, or a length below 1.
    """
    if count < 0:
        raise ValueError(f"a run has at least 0 prompts, got {count}")
    if length_bytes < 1:
        raise ValueError(f"a prompt has at least one byte, got {length_bytes}")
    rng = random.Random(seed)
    return [_text(rng, length_bytes) for _ in range(count)]


def _text(rng: random.Random, length_bytes: int) -> str:
    words, length = [], 0
    while length <= length_bytes:  # the last word has no space behind it
        words.append("".join(rng.choices(SYLLABLES, k=rng.randint(1, 3))))
        length += len(words[-1]) + 1
    return " ".join(words)[:length_bytes]
