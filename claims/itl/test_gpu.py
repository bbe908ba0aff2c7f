"""What changes on a GPU: asynchronous launches, mixed batches that are one pass, and replayed graphs."""

import time
from statistics import median

from runtwice import claim


@claim("itl.gpu-async-timing")
def test_a_host_timer_measures_the_launch(evidence):
    """A large matrix product: host time without and with waiting for the device, as a share of the time by events."""
    import torch

    matrix = torch.randn(evidence.given("size"), evidence.given("size"), device="cuda")
    launched, finished = [], []
    for _ in range(evidence.given("repeats")):
        torch.cuda.synchronize()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begun_s = time.perf_counter()
        begin.record()
        matrix @ matrix
        end.record()
        launched_s = time.perf_counter() - begun_s
        torch.cuda.synchronize()
        finished_s = time.perf_counter() - begun_s
        worked_s = begin.elapsed_time(end) / 1e3
        launched.append(launched_s / worked_s)
        finished.append(finished_s / worked_s)
    agreement = evidence.given("agreement")
    evidence.procedure(
        wrong=median(launched), right=median(finished), correct=lambda share: abs(share - 1) <= agreement
    )


@claim("itl.gpu-mixed-batch", expect="recorded")
def test_the_mix_of_tokens_splits_a_mixed_batch(evidence):
    """One pass over prefill and decode tokens: prefill's share by tokens, less its share by leaving the chunk out."""
    import torch

    prefill, decode = evidence.given("prefill_tokens"), evidence.given("decode_tokens")
    network = _network(torch, evidence.given("width"), evidence.given("layers"))
    rows = torch.randn(prefill + decode, evidence.given("width"), device="cuda")
    by_tokens = prefill / (prefill + decode)
    errors = []
    with torch.no_grad():
        for _ in range(evidence.given("repeats")):
            mixed_ms = _event_ms(torch, lambda: network(rows))
            alone_ms = _event_ms(torch, lambda: network(rows[:decode]))
            errors.append(100 * (by_tokens - (mixed_ms - alone_ms) / mixed_ms))
    evidence.recorded("split by tokens less split by difference", errors, unit="percentage points")


@claim("itl.gpu-graph-replay")
def test_replay_beats_launching(evidence):
    """A stack of small layers, launched one by one and replayed as one graph: ratio of times, batch by batch."""
    import torch

    network = _network(torch, evidence.given("width"), evidence.given("layers"))
    for batch in evidence.given("batches"):
        rows = torch.randn(batch, evidence.given("width"), device="cuda")
        with torch.no_grad():
            replay = _captured(torch, network, rows)
            ratios = [
                _event_ms(torch, lambda rows=rows: network(rows)) / _event_ms(torch, replay)
                for _ in range(evidence.given("repeats"))
            ]
        evidence.above(ratios, evidence.given("min_ratio"), label=f"batch {batch}")


def _network(torch, width, layers):
    stack = [layer for _ in range(layers) for layer in (torch.nn.Linear(width, width), torch.nn.GELU())]
    return torch.nn.Sequential(*stack).cuda()


def _captured(torch, network, rows):
    """A function that replays the network on `rows`; capture wants a few runs on a side stream first."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            network(rows)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        network(rows)
    return graph.replay


def _event_ms(torch, run, calls=20):
    """Mean time of a call on the device, by events, after one call to warm up."""
    run()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(calls):
        run()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end) / calls
