"""Speed of the decoder beside what the machine can do at most, and beside torch in eager mode on the same weights.

    python benchmarks/bench_decoder.py      the table, all of it measured by turns in one run
    pytest benchmarks/bench_decoder.py      the decoder alone, as benchmark entries

BLAS and torch get one thread, or as many as OMP_NUM_THREADS says.

Decoding one token reads every table and the cache once, so its limit is those bytes over the bytes this machine reads a
second. A prompt is bound by arithmetic, so its limit is its products over the operations a second of a float32 product
of NumPy's. Ceilings are the best of all rounds and ways, times the median of the rounds.
"""

import os

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = os.environ.get("OMP_NUM_THREADS", "1")

import sys
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
import pytest

from implementations.inference.bandwidth import ProductCeiling, ReadCeiling
from implementations.inference.cache import Cache
from implementations.inference.decoder import Decoder
from implementations.inference.flops import PARTS, stretch_flops, token_flops
from implementations.inference.part_clock import PartClock
from implementations.inference.shape import GPT2_SMALL
from implementations.inference.weights import Weights

THREADS = os.environ["OMP_NUM_THREADS"]
PROMPT, NOTES = 1024, (128, 1023)
ROUNDS, TOKENS = 7, 10


def filled(notes: int) -> Cache:
    """A cache that holds so many tokens."""
    cache = Cache(GPT2_SMALL)
    cache.fill(notes, np.random.default_rng(1))
    return cache


def decode(decoder: Decoder, cache: Cache) -> None:
    """One more token, which is forgotten again."""
    notes = cache.length_tokens
    decoder.extend([7], cache)
    cache.truncate(notes)


def prefill(decoder: Decoder, cache: Cache) -> None:
    """A prompt into an empty cache."""
    cache.truncate(0)
    decoder.extend([7] * PROMPT, cache)


def seconds(work: Callable[[], object], calls: int = 1) -> float:
    """Of one call, the mean of some in a row."""
    began = perf_counter()
    for _ in range(calls):
        work()
    return (perf_counter() - began) / calls


def torch_work(weights: Weights) -> dict[str, Callable[[], object]]:
    """The same three pieces of work in torch."""
    import torch

    from claims.experiments.torch_decoder import TorchDecoder

    torch.set_num_threads(int(THREADS))
    model = TorchDecoder(weights)
    model.fill(GPT2_SMALL.positions)

    def read(tokens: int, held: int) -> None:
        model.length = held
        model.extend([7] * tokens)

    work = {name_of(notes): lambda notes=notes: read(1, notes) for notes in NOTES}
    return {**work, "prefill": lambda: read(PROMPT, 0)}


def name_of(notes: int) -> str:
    """What a token that finds so many in the cache is called in the table."""
    return f"decode after {notes:,}"


Times = dict[tuple[str, str], list[float]]


def measure() -> None:
    """Print the tables."""
    weights = Weights.random(GPT2_SMALL, np.random.default_rng(0))
    caches = {name_of(notes): filled(notes) for notes in NOTES}
    reading, products = ReadCeiling(weights.passed_bytes), ProductCeiling((PROMPT, 768, 3072), (PROMPT, 3072, 768))
    found = by_turns(weights, caches, reading, products)
    limits = {name: _read_limit_s(weights, cache, reading) for name, cache in caches.items()}
    limits["prefill"] = _prompt_operations() / products.flops_per_s
    say(f"{THREADS} thread(s), {ROUNDS} rounds; reads {reading.bytes_per_s / 1e9:.1f} GB/s, ", end="")
    say(f"multiplies {products.flops_per_s / 1e9:.0f} GFLOP/s")
    beside_the_limits(found, limits)
    where_it_goes(weights, filled(NOTES[0]), reading, products)


def by_turns(weights: Weights, caches: dict[str, Cache], reading: ReadCeiling, products: ProductCeiling) -> Times:
    """Seconds by (work, whose), one a round; ceilings, ours and torch's are taken in each round."""
    decoder, prompt_cache = Decoder(weights), Cache(GPT2_SMALL)
    ours: dict[str, Callable[[], object]] = {
        **{name: lambda cache=cache: decode(decoder, cache) for name, cache in caches.items()},
        "prefill": lambda: prefill(decoder, prompt_cache),
    }
    theirs = torch_work(weights)
    found: Times = {(name, who): [] for name in ours for who in ("ours", "torch")}
    for number in range(1 + ROUNDS):
        reading.round()
        products.round()
        for name in ours:
            order = [("ours", ours[name]), ("torch", theirs[name])]
            for who, work in order if number % 2 else reversed(order):
                work()  # warms up what the one before left cold
                if number:
                    found[name, who].append(seconds(work, 1 if name == "prefill" else TOKENS))
    return found


def beside_the_limits(found: Times, limits: dict[str, float]) -> None:
    """Print medians and best rounds beside what the machine could do."""
    say(f"{'ms':<20}{'ours':>10}{'best':>10}{'limit':>10}{'of limit':>10}{'torch':>10}{'best':>10}{'ours/torch':>12}")
    for name, limit_s in limits.items():
        own, other = ([1e3 * one for one in found[name, who]] for who in ("ours", "torch"))
        middle = median(own)
        ratio = median(a / b for a, b in zip(own, other))
        say(
            f"{name:<20}{middle:>10.2f}{min(own):>10.2f}{1e3 * limit_s:>10.2f}{1e3 * limit_s / middle:>10.0%}"
            f"{median(other):>10.2f}{min(other):>10.2f}{ratio:>12.2f}"
        )


def _read_limit_s(weights: Weights, cache: Cache, ceiling: ReadCeiling) -> float:
    return (weights.passed_bytes + cache.used_bytes) / ceiling.bytes_per_s


def _prompt_operations() -> int:
    counts = stretch_flops(GPT2_SMALL, PROMPT)
    return sum(counts.values()) - counts["other"]


def where_it_goes(weights: Weights, cache: Cache, reading: ReadCeiling, products: ProductCeiling) -> None:
    """Print time, operations and speed of each part of a decoded token and of the prompt."""
    clock = PartClock()
    decoder = Decoder(weights, clock.mark)
    prompt_cache = Cache(GPT2_SMALL)
    counts = token_flops(GPT2_SMALL, cache.length_tokens + 1)
    for title, work, calls, operations in (
        (name_of(cache.length_tokens), lambda: decode(decoder, cache), 3 * TOKENS, counts),
        ("prefill", lambda: prefill(decoder, prompt_cache), 2, stretch_flops(GPT2_SMALL, PROMPT)),
    ):
        clock.seconds.clear()
        for _ in range(calls):
            work()
            clock.stop()
        total = clock.total / calls
        say(f"\n{title}: {1e3 * total:.2f} ms\n{'':<10}{'ms':>10}{'time':>8}{'MFLOP':>12}{'work':>8}{'GFLOP/s':>10}")
        for part in PARTS:
            part_s = clock.seconds.get(part, 0.0) / calls
            share = operations[part] / sum(operations.values())
            rate = operations[part] / part_s / 1e9 if part_s else 0.0
            say(
                f"{part:<10}{1e3 * part_s:>10.2f}{part_s / total:>8.1%}{operations[part] / 1e6:>12.2f}{share:>8.1%}"
                f"{rate:>10.1f}"
            )
    say(f"at most {reading.bytes_per_s / 2e9:.1f} GFLOP/s where every float32 is read once, ", end="")
    say(f"{products.flops_per_s / 1e9:.0f} where it is not")


def say(text: str, end: str = "\n") -> None:
    """Print."""
    sys.stdout.write(text + end)


@pytest.fixture(scope="module")
def decoder():
    """The model at full size."""
    return Decoder(Weights.random(GPT2_SMALL, np.random.default_rng(0)))


@pytest.mark.parametrize("notes", NOTES)
def test_decode(benchmark, decoder, notes):
    """Seconds of one token; bytes it reads a second in the entry's extra information."""
    cache = filled(notes)
    benchmark.group = "decoder"
    benchmark.pedantic(decode, (decoder, cache), rounds=20, warmup_rounds=2)
    benchmark.extra_info["bytes"] = decoder.weights.passed_bytes + cache.used_bytes


def test_prefill(benchmark, decoder):
    """Seconds of a prompt."""
    benchmark.group = "decoder"
    benchmark.pedantic(prefill, (decoder, Cache(GPT2_SMALL)), rounds=3, warmup_rounds=1)
    benchmark.extra_info["operations"] = _prompt_operations()


if __name__ == "__main__":
    measure()
