"""The pattern of a request on a GPU."""

import numpy as np

from runtwice import claim


@claim("request.real-gpu-same-pattern")
def test_the_pattern_on_a_gpu(evidence):
    """Torch in half precision on the model's shape: costs a token, even gaps, first tokens, a value a run."""
    from claims.experiments.gpu_requests import runs

    prompts = [int(size) for size in evidence.given("prompts")]
    found = runs(int(evidence.given("runs")), prompts, int(evidence.given("answer_tokens")))
    longest = max(prompts)
    evidence.keep("ttft_ms", [run[size]["ttft_ms"] for run in found for size in prompts])
    ratios = [float(np.median(run[longest]["gaps_ms"])) / (run[longest]["ttft_ms"] / longest) for run in found]
    spreads = [float(np.percentile(run[longest]["gaps_ms"], 99) / np.median(run[longest]["gaps_ms"])) for run in found]
    evidence.above(ratios, evidence.given("ratio_above"), label="a token of the answer over one of the prompt")
    evidence.above([-spread for spread in spreads], -evidence.given("p99_over_p50_below"), label="even gaps")
    first, last = ([run[size]["ttft_ms"] for run in found] for size in (min(prompts), longest))
    evidence.above(last, first, paired=True, label="a longer prompt waits longer")
