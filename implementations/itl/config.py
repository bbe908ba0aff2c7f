"""The settings of one engine run."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import Literal

BLOCK_TOKENS = 16


@dataclass(frozen=True)
class EngineConfig:
    """Settings of the engine; the defaults are those the post states for its demonstrator.

    Args:
        max_num_seqs: most requests running at once.
        token_budget: most tokens a step may process; decodes come first and prefill gets the rest.
        capture_sizes: batch sizes with a captured (batched) decode path, ascending. A batch is padded up to
            the next one; above the largest each sequence is decoded by itself.
        kv_blocks: blocks of the KV pool, of ``BLOCK_TOKENS`` tokens each.
        max_model_len: longest prompt in tokens; longer ones are cut.
        readmit_headroom_blocks: blocks that must stay free when an evicted request returns to a running
            batch.
        admission_watermark: share of the pool that must stay free when a new request is admitted to a busy
            engine.
        reserve_answer: also reserve blocks for the whole answer at admission, so that nobody is ever evicted.
        overtake_limit: new requests that may be admitted past the longest-evicted one before it holds the
            door.
        preemption: what becomes of a victim's cache: copied out and back, or dropped and computed again.
        first_token_from: the logits of the last prompt token, or (a fault of the post's engine) one more step
            that feeds the last prompt token a second time.
        gc_freeze: collect and freeze the heap before serving.
        compact_history: keep per-token records in a flat array and not as objects.
        tokenize_off_loop: tokenize in a worker process.
        log_empty_segments: also log swap and prefill segments in which nothing was done.
    """

    max_num_seqs: int = 48
    token_budget: int = 2048
    capture_sizes: tuple[int, ...] = (1, 2, 4, 8, 16, 24, 32)
    kv_blocks: int = 1000
    max_model_len: int = 2048
    readmit_headroom_blocks: int = 8
    admission_watermark: float = 0.0
    reserve_answer: bool = False
    overtake_limit: int = 100
    preemption: Literal["swap", "recompute"] = "swap"
    first_token_from: Literal["prefill", "extra step"] = "prefill"
    gc_freeze: bool = False
    compact_history: bool = False
    tokenize_off_loop: bool = False
    log_empty_segments: bool = False

    def __post_init__(self) -> None:
        for name in ("max_num_seqs", "token_budget", "kv_blocks", "max_model_len"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("readmit_headroom_blocks", "overtake_limit"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")
        if not 0 <= self.admission_watermark <= 1:
            raise ValueError(f"admission_watermark is a share from 0 to 1, got {self.admission_watermark}")
        sizes = self.capture_sizes
        if list(sizes) != sorted(set(sizes)) or (sizes and sizes[0] < 1):
            raise ValueError(f"capture_sizes must be positive and ascending, got {sizes}")
        if self.preemption == "recompute" and self.first_token_from == "extra step":
            raise ValueError("recompute cannot rebuild the cache of an extra step: it holds a token twice")

    def captured_size(self, batch: int) -> int | None:
        """The smallest captured size that holds ``batch`` sequences, or None above the largest."""
        place = bisect_left(self.capture_sizes, batch)
        return self.capture_sizes[place] if place < len(self.capture_sizes) else None


def blocks_for(tokens: int) -> int:
    """Blocks that hold this many tokens."""
    return -(-tokens // BLOCK_TOKENS)
