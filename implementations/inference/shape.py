"""The sizes of a decoder, and of the published models whose work is counted here.

Follows: Radford et al. (2019) for the GPT-2 family, and the public configuration of Llama 3.1 8B (Meta, 2024).
Leaves out: everything of those models that is no size. Both are run here as one architecture (`decoder.py`).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """Sizes of a decoder.

    Args:
        layers: how many.
        width: of the residual stream.
        heads: query heads; they divide the width.
        hidden: inner width of the MLP.
        vocabulary: rows of the embedding and columns of the output projection.
        positions: longest sequence.
        kv_heads: heads of the keys and values, each shared by a group of query heads; as many as `heads` by default.
        gated: three MLP matrices (gate, up, down) and not two.

    Raises:
        ValueError: a size that is no whole number of at least one, or heads that do not divide.
    """

    layers: int
    width: int
    heads: int
    hidden: int
    vocabulary: int
    positions: int = 1024
    kv_heads: int = 0
    gated: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "kv_heads", self.kv_heads or self.heads)
        for name in ("layers", "width", "heads", "hidden", "vocabulary", "positions", "kv_heads"):
            if not isinstance(getattr(self, name), int):
                raise ValueError(f"{name} must be a whole number, got {getattr(self, name)!r}")
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.width % self.heads:
            raise ValueError(f"{self.heads} heads do not divide a width of {self.width}")
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.kv_heads} key/value heads do not divide {self.heads} query heads")

    @property
    def head_width(self) -> int:
        """Width of one head."""
        return self.width // self.heads

    @property
    def kv_width(self) -> int:
        """Width of all keys, or of all values, of one token."""
        return self.kv_heads * self.head_width

    @property
    def inner(self) -> int:
        """Columns of the matrix that enters the MLP: the gate's and the other's side by side where there is one."""
        return 2 * self.hidden if self.gated else self.hidden

    @property
    def matrices(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of each weight matrix of a layer."""
        return {
            "qkv": (self.width, self.width + 2 * self.kv_width),
            "out": (self.width, self.width),
            "up": (self.width, self.inner),
            "down": (self.hidden, self.width),
        }

    @property
    def layer_entries(self) -> int:
        """Entries of the weight matrices of one layer."""
        return sum(rows * columns for rows, columns in self.matrices.values())

    @property
    def head_entries(self) -> int:
        """Entries of the output projection."""
        return self.width * self.vocabulary

    @property
    def passed_entries(self) -> int:
        """Entries of every matrix a token is multiplied by: what "2 times the parameters" means by parameters."""
        return self.layers * self.layer_entries + self.head_entries

    @property
    def cache_bytes_per_token(self) -> int:
        """Bytes of keys and values, in float32, that one more token adds."""
        return 4 * self.layers * 2 * self.kv_width


GPT2_SMALL = Shape(layers=12, width=768, heads=12, hidden=3072, vocabulary=50_257)
GPT2_MEDIUM = Shape(layers=24, width=1024, heads=16, hidden=4096, vocabulary=50_257)
GPT2_LARGE = Shape(layers=36, width=1280, heads=20, hidden=5120, vocabulary=50_257)
GPT2_XL = Shape(layers=48, width=1600, heads=25, hidden=6400, vocabulary=50_257)
LLAMA_31_8B = Shape(
    layers=32, width=4096, heads=32, hidden=14_336, vocabulary=128_256, positions=131_072, kv_heads=8, gated=True
)
