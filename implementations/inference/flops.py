"""Floating-point operations of a decoder, by formula.

Follows: Kaplan et al. (2020), two operations for each entry of a matrix a token passes through and four for each unit
of width of each cached token; the small operations as `activation` and `attention` do them, counted as `tally` counts.
Attention is charged what a causal mask leaves, not the square: a row sees itself and what came before it.
Leaves out: what tiles compute and mask (`tally` sees it); comparisons and moves of data.
"""

from implementations.inference.shape import Shape

PARTS = ("lookup", "qkv", "cache", "out", "up", "down", "head", "other")
TABLES = ("qkv", "out", "up", "down", "head")  # products with weight matrices
SOFTMAX_PER_SCORE = 3  # subtract, exp, add; the division is put off
GELU_PER_UNIT = 7
SILU_GATE_PER_UNIT = 5


def attended_pairs(tokens: int, cached: int = 0) -> int:
    """Pairs of a new token and a token it attends to, itself included.

    Args:
        tokens: new ones.
        cached: those before them.

    Raises:
        ValueError: fewer than one new token, or a negative number of cached ones.
    """
    if not (tokens >= 1 and cached >= 0):
        raise ValueError(f"needs at least 1 new token and 0 cached ones, got {tokens} and {cached}")
    return tokens * cached + tokens * (tokens + 1) // 2


def stretch_flops(shape: Shape, tokens: int, cached: int = 0, logits: int = 1) -> dict[str, int]:
    """Operations by part (`PARTS`) of reading a stretch of tokens.

    Args:
        shape: of the decoder.
        tokens: new ones.
        cached: those before them.
        logits: after how many of the tokens logits are computed.

    Raises:
        ValueError: fewer than one new token, a negative number of cached ones, or logits after more than there are.
    """
    if not 0 <= logits <= tokens:
        raise ValueError(f"logits after {logits} of {tokens} tokens; it must be from 0 to {tokens}")
    pairs = attended_pairs(tokens, cached)
    by_matrix = {name: 2 * rows * columns * tokens * shape.layers for name, (rows, columns) in shape.matrices.items()}
    return {
        "lookup": 0,
        "qkv": by_matrix["qkv"],
        "cache": 4 * shape.width * pairs * shape.layers,
        "out": by_matrix["out"],
        "up": by_matrix["up"],
        "down": by_matrix["down"],
        "head": 2 * shape.head_entries * logits,
        "other": _small_operations(shape, tokens, pairs, logits),
    }


def token_flops(shape: Shape, notes: int) -> dict[str, int]:
    """Operations by part of one decoded token.

    Args:
        shape: of the decoder.
        notes: tokens it attends to, itself included.

    Raises:
        ValueError: fewer than one.
    """
    if notes < 1:
        raise ValueError(f"a token attends at least to itself, got notes = {notes}")
    return stretch_flops(shape, 1, notes - 1)


def rule_of_thumb(shape: Shape, notes: int) -> int:
    """Twice the entries a token passes, and four times layers, width and attended tokens.

    Raises:
        ValueError: a negative number of attended tokens.
    """
    if notes < 0:
        raise ValueError(f"notes must be at least 0, got {notes}")
    return 2 * shape.passed_entries + 4 * shape.layers * shape.width * notes


def cache_majority_notes(shape: Shape) -> int:
    """Fewest attended tokens at which reading the cache is more than half of the rule of thumb."""
    return 2 * shape.passed_entries // (4 * shape.layers * shape.width) + 1


def norm_flops(width: int) -> int:
    """Two sums and their division, a subtraction, a square, a division; the epsilon and the root."""
    return 5 * width + 2


def _small_operations(shape: Shape, tokens: int, pairs: int, logits: int) -> int:
    per_unit = SILU_GATE_PER_UNIT if shape.gated else GELU_PER_UNIT
    scaled_queries = put_off_division = shape.width
    residual_sums = 2 * shape.width
    around = 2 * norm_flops(shape.width) + scaled_queries + put_off_division + residual_sums
    softmax = shape.heads * (SOFTMAX_PER_SCORE * pairs - tokens)  # a sum of t numbers is t - 1 additions
    layer = (around + per_unit * shape.hidden) * tokens + softmax
    return shape.layers * layer + shape.width * tokens + norm_flops(shape.width) * logits
