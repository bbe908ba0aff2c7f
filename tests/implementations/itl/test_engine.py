"""The engine serves what it accepts, correctly, and writes down what it did."""

import pytest

from implementations.itl.config import EngineConfig

TIGHT = {
    "kv_blocks": 14,
    "max_num_seqs": 6,
    "token_budget": 24,
    "capture_sizes": (1, 2, 4),
    "readmit_headroom_blocks": 1,
}
CROWD = [(0.0, 5 + 7 * number % 40, 12 + 5 * number % 30) for number in range(10)]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        TIGHT,
        {**TIGHT, "preemption": "recompute"},
        {**TIGHT, "capture_sizes": ()},
        {**TIGHT, "token_budget": 1},
        {**TIGHT, "admission_watermark": 0.3},
    ],
    ids=["roomy", "tight", "recompute", "fallback", "one-token budget", "watermark"],
)
def test_tokens_equal_a_full_prefix_reference(serve, small_decoder, reference, settings):
    """Chunking, padding, fallback and preemption leave every request's tokens as computed alone."""
    config = EngineConfig(**settings)
    model = small_decoder(config.kv_blocks)
    log, prompts = serve(CROWD, model=model, config=config)
    assert log.tokens == {
        number: reference(model.weights, prompts[number], max_new) for number, (_, _, max_new) in enumerate(CROWD)
    }
