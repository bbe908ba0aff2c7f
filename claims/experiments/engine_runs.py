"""Runs of the continuous-batching engine that several claims look at.

A *burst* is a small trace under memory pressure: all requests arrive at once and ask for more than the pool holds, so
that evictions, restarts and chunked prompts happen within a fraction of a second, whatever the machine's speed.
"""

from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from implementations.itl.config import EngineConfig
    from implementations.itl.events import EventLog
    from implementations.itl.run_log import RunLog
    from implementations.itl.trace import Arrival

BURST_REQUESTS = 24
BURST_BLOCKS = 75
# A budget below the longest prompts, so that they are computed in chunks and some are evicted half-way.
BURST_BUDGET = 64


def burst_trace(seed: int, requests: int = BURST_REQUESTS, spread_s: float = 0.02) -> tuple[Arrival, ...]:
    """Short prompts and answers that arrive within `spread_s` seconds."""
    from implementations.itl.trace import Arrival, write_text

    rng = random.Random(seed)
    times = sorted(rng.uniform(0, spread_s) for _ in range(requests))
    trace = []
    for number, time_s in enumerate(times):
        text = write_text(rng, rng.randint(100, 900))
        trace.append(Arrival(number, time_s, text, len(text), 0, rng.randint(12, 60)))
    return tuple(trace)


def burst_config(**changes: Any) -> EngineConfig:
    """The engine's settings for a burst: the post's, with a small pool and budget."""
    from implementations.itl.config import EngineConfig

    return replace(EngineConfig(kv_blocks=BURST_BLOCKS, token_budget=BURST_BUDGET), **changes)


def run(config: EngineConfig, trace: tuple[Arrival, ...], **options: Any) -> RunLog:
    """One engine run on the real clock."""
    from implementations.itl.decoder import Decoder
    from implementations.itl.engine import Engine

    model = options.pop("model", None) or Decoder(kv_blocks=config.kv_blocks)
    return Engine(config, model, trace, **options).run()


def burst_run(seed: int, **changes: Any) -> RunLog:
    """One burst with the post's settings, or some of them changed."""
    return run(burst_config(**changes), burst_trace(seed))


def bursts(seeds: int) -> list[RunLog]:
    """Bursts of the seeds 1 to `seeds`, each run once a session."""
    return [_kept_burst(seed) for seed in range(1, int(seeds) + 1)]


@lru_cache(maxsize=16)
def _kept_burst(seed: int) -> RunLog:
    return burst_run(seed)


def single_request(tokens: int, **changes: Any) -> RunLog:
    """One request by itself, so that nothing else happens in its steps."""
    from implementations.itl.config import EngineConfig
    from implementations.itl.trace import Arrival, write_text

    text = write_text(random.Random(0), 400)
    return run(replace(EngineConfig(), **changes), (Arrival(0, 0.0, text, len(text), 0, tokens),))


def emissions_by_request(log: RunLog) -> dict[int, list[tuple[float, int]]]:
    """(time, step) of each token, by request, in order."""
    found: dict[int, list[tuple[float, int]]] = {row.request: [] for row in log.requests}
    for request, time_s, step in log.emissions:
        found[request].append((time_s, step))
    return found


def gaps_by_step(log: RunLog) -> dict[int, list[tuple[int, float]]]:
    """(request, gap in seconds) of each gap, by the step at which it ends."""
    found: dict[int, list[tuple[int, float]]] = {}
    for request, stamps in emissions_by_request(log).items():
        for (before_s, _), (after_s, step) in pairwise(stamps):
            found.setdefault(step, []).append((request, after_s - before_s))
    return found


def victim_against_bystanders_s(log: RunLog) -> list[tuple[float, float]]:
    """For each eviction: the victim's gap, and the median gap of the others that ended at the step of the eviction."""
    emitted = emissions_by_request(log)
    by_step = gaps_by_step(log)
    pairs = []
    for event in log.preemptions:
        others = [gap for request, gap in by_step.get(event.step, []) if request != event.victim]
        own = _gap_over(emitted[event.victim], event.step)
        if not event.restarted and others and own is not None:
            pairs.append((own, float(np.median(others))))
    return pairs


def _gap_over(stamps: list[tuple[float, int]], step: int) -> float | None:
    """The gap during which `step` ran, or None before the first token."""
    for (before_s, before), (after_s, after) in pairwise(stamps):
        if before < step <= after:
            return after_s - before_s
    return None


def run_with_pause(seed: int, at_step: int, pause_s: float) -> RunLog:
    """A burst in a roomy pool on a clock that steps by 1 ms, and by `pause_s` more in one of the steps."""
    from implementations.itl.clock import VirtualClock

    clock = VirtualClock(step_s=1e-3)

    def hold(step: int) -> None:
        if step == at_step:
            clock.advance(float(pause_s))

    config = burst_config(kv_blocks=1000, token_budget=2048)
    return run(config, burst_trace(seed), before_step=hold, clock=clock)


def greedy_first_tokens(seed: int) -> dict[int, int]:
    """The first token of each request of a burst, from one pass over its whole prompt in a fresh cache."""
    from implementations.itl.config import blocks_for
    from implementations.itl.decoder import Decoder
    from implementations.itl.tokenizer import encode

    model = Decoder(kv_blocks=200)
    first = {}
    for arrival in burst_trace(seed):
        tokens = encode(arrival.text or "")
        first[arrival.request] = model.prefill(tokens, 0, range(blocks_for(len(tokens)))) or 0
    return first


def steps_from_prompt_to_first_token(log: RunLog) -> set[int]:
    """How many steps lie between the end of a prompt and its first token, over all requests."""
    ends = {chunk.request: chunk.step for chunk in log.chunks}
    return {stamps[0][1] - ends[request] for request, stamps in emissions_by_request(log).items()}


def empty_segments(seed: int, *, log_empty_segments: bool) -> int:
    """Swap and prefill segments, in the log of a burst, of steps that swapped and prefilled nothing."""
    log = burst_run(seed, log_empty_segments=log_empty_segments, kv_blocks=1000)
    done = {"swap": log.step["swapped_blocks"], "prefill": log.step["prefill_tokens"]}
    return sum(kind in done and done[kind][step] == 0 for step, kind, *_ in log.segments)


def skips_and_evictions(seed: int, *, round_robin: bool) -> tuple[int, int]:
    """Gaps of a burst that pass over a step, and gaps during which the request was evicted.

    The round-robin scheduler decodes half of the batch a step, in a pool that never runs out.
    """
    from implementations.itl.scheduler import RoundRobinScheduler, Scheduler

    config = burst_config(kv_blocks=1000 if round_robin else BURST_BLOCKS)
    scheduler = RoundRobinScheduler(config) if round_robin else Scheduler(config)
    log = run(config, burst_trace(seed), scheduler=scheduler)
    skips = evicted = 0
    for request, stamps in emissions_by_request(log).items():
        for (before_s, before), (after_s, after) in pairwise(stamps):
            skips += after > before + 1
            evicted += any(who == request and before_s < at < after_s for who, at, _ in log.evictions)
    return skips, evicted


def prefill_part_ms(seed: int, chunk_tokens: list[int]) -> list[float]:
    """For each prompt length: the prefill part of a decoding request's gap over the step that computes the prompt."""
    return [_largest_part_ms(seed, "prefill", prompt_tokens=tokens) for tokens in chunk_tokens]


def tokenizer_part_ms(seed: int, document_chars: list[int]) -> list[float]:
    """For each document length: the smallest tokenizer part over the requests in flight while it is tokenized."""
    return [_largest_part_ms(seed, "tok", document_chars=chars) for chars in document_chars]


def _largest_part_ms(seed: int, label: str, prompt_tokens: int = 2048, document_chars: int = 20_000) -> float:
    """Three short requests decode while a long one arrives: the smallest, over the three, of their largest `label`."""
    from implementations.itl.config import EngineConfig
    from implementations.itl.partition import partition
    from implementations.itl.trace import Arrival, write_text

    rng = random.Random(seed)
    short, long = write_text(rng, 60), write_text(rng, document_chars)
    trace = [Arrival(number, 0.0, short, len(short), 0, 60) for number in range(3)]
    trace.append(Arrival(3, 0.015, long, len(long), 0, 2))
    found = partition(run(EngineConfig(max_model_len=int(prompt_tokens)), tuple(trace)).event_log())
    return min(float(found.parts[label][found.request == number].max()) for number in range(3))


def quiet_forward_share(tokens: int) -> float:
    """Median share of the forward pass in the gaps of one request by itself, the partition as the post has it."""
    from implementations.itl.partition import partition

    found = partition(without_cpu_time(single_request(int(tokens))))
    return float(np.median(found.parts["forward"] / found.gap_ms))


def without_cpu_time(log: RunLog) -> EventLog:
    """The event log as the post's engine keeps it: segments do not say how long their thread ran."""
    from implementations.itl.events import EventLog

    segments = [segment[:4] for segment in log.segments]
    return EventLog.from_events(log.steps, segments, log.collections, log.emissions, log.evictions)


def gaps_without_any_cause(seed: int) -> int:
    """Gaps of a burst in which no cause took time, when empty segments are logged as the post's engine does."""
    from implementations.itl.partition import partition

    found = partition(without_cpu_time(burst_run(seed, log_empty_segments=True, kv_blocks=1000)))
    causes = sum(found.parts[label] for label in ("prefill", "preempt", "graph", "gc", "tok"))
    return int((causes == 0).sum())


def bystanders_swap_ms(log: RunLog) -> float:
    """Mean copying time in the gaps, of requests that were not evicted, over the steps that evicted somebody."""
    from implementations.itl.partition import partition

    found = partition(log.event_log())
    evicting = {event.step for event in log.preemptions if not event.restarted}
    own = set(found.evicted_gaps.tolist())
    rows = [row for row, step in enumerate(found.end_step) if int(step) in evicting and row not in own]
    return float(found.parts["preempt"][rows].mean())


def admissions_past_an_eviction_that_fits(log: RunLog) -> int:
    """New requests admitted while the request evicted first could have returned, with its headroom, before them."""
    from implementations.itl.config import blocks_for

    prompt = {row.request: row.prompt_tokens for row in log.requests}
    returned = {(event.request, event.step) for event in log.readmissions}
    faults = 0
    for event in log.admissions:
        for who, step in _evicted_at(log, event.step):
            if (who, event.step) in returned:
                continue
            held = prompt[who] + sum(1 for request, _, at in log.emissions if request == who and at < step)
            faults += blocks_for(held + 1) + log.config.readmit_headroom_blocks <= event.free_blocks
            break  # only the one evicted first stands at the door
    return faults


def _evicted_at(log: RunLog, step: int) -> list[tuple[int, int]]:
    """(request, step of its eviction) of the requests that are evicted as `step` begins, the first evicted first."""
    returns = [(event.request, event.step) for event in log.readmissions]
    evicted = [(event.victim, event.step) for event in log.preemptions if not event.restarted and event.step < step]
    return [(who, at) for who, at in evicted if not any(other == who and at < back < step for other, back in returns)]


def clean_gaps_below(seeds: int, forward_share: float) -> float:
    """Share of gaps below `forward_share` forward pass, among those without a primary cause: the middle one of bursts.

    A pause of the machine lengthens one step and with it the gaps of all its sequences; it spoils a burst, not all.
    """
    from implementations.itl.partition import partition
    from implementations.itl.tail import primary_cause

    below = []
    for seed in range(1, int(seeds) + 1):
        found = partition(without_cpu_time(burst_run(seed, kv_blocks=1000, token_budget=2048)))
        clean = primary_cause(found.gap_ms, found.parts) == "clean"
        below.append(np.mean(found.parts["forward"][clean] < float(forward_share) * found.gap_ms[clean]))
    return float(np.median(below))
