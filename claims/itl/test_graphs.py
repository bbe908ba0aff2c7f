"""The emulated captured graphs: which path a batch takes, what it computes, and what batching gains."""

from runtwice import Arm, claim


@claim("itl.graph-padding")
def test_a_batch_is_padded_to_the_next_captured_size(evidence):
    """Size chosen for each batch of 1 to 32 against a search by hand, and tokens of padded and unpadded passes."""
    from claims.experiments import decode_batches
    from implementations.itl.config import EngineConfig

    config = EngineConfig()
    evidence.figure("capture_sizes", config.capture_sizes)
    for batch in range(1, max(config.capture_sizes) + 1):
        expected = min(size for size in config.capture_sizes if size >= batch)
        evidence.identical(config.captured_size(batch), expected, label=f"batch {batch}")
    for batch in evidence.given("padded_batches"):
        padded, plain = (decode_batches.decoded(evidence.given("seed"), batch, size) for size in (32, batch))
        evidence.identical(len(padded.tokens), batch, label=f"rows that come back, batch {batch}")
        evidence.identical(padded.tokens, plain.tokens, label=f"tokens, batch {batch}")
        evidence.identical(padded.keys, plain.keys, label=f"keys, batch {batch}")


@claim("itl.graph-fallback")
def test_nothing_is_captured_above_the_largest_size(evidence):
    """Path chosen for every batch the engine may form, with the post's sizes and with those that reach its limit."""
    from implementations.itl.config import EngineConfig
    from implementations.itl.ladder import with_fixes

    before, after = EngineConfig(), with_fixes(["graphs-to-48"])
    evidence.figure("largest", max(before.capture_sizes))
    evidence.figure("extended_to", max(after.capture_sizes))
    evidence.figure("sequences", before.max_num_seqs)
    batches = range(1, before.max_num_seqs + 1)
    fallback = [batch for batch in batches if before.captured_size(batch) is None]
    evidence.identical(fallback, list(range(max(before.capture_sizes) + 1, before.max_num_seqs + 1)), label="before")
    evidence.identical(sum(after.captured_size(batch) is None for batch in batches), 0, label="after")


@claim("itl.graph-path-same-tokens")
def test_both_paths_give_the_same_tokens(evidence):
    """Tokens and cached keys and values after a decode step of one batch, captured and one sequence at a time."""
    from claims.experiments import decode_batches

    captured, alone = decode_batches.both_paths(evidence.given("seed"), evidence.given("batch"))
    evidence.identical(captured.tokens, alone.tokens, label="tokens")
    evidence.identical(captured.keys, alone.keys, label="keys")
    evidence.identical(captured.values, alone.values, label="values")


@claim("itl.slower-vm")
def test_record_a_forward_pass_at_batch_32(evidence):
    """Milliseconds of a captured decode pass at batch 32, cache filled to a typical context."""
    from claims.experiments import decode_batches

    batch, context = evidence.given("batch"), evidence.given("context_tokens")
    seconds = decode_batches.decode_seconds(batch, context, batch, evidence.given("rounds"))
    evidence.settings(batch=batch, context_tokens=context)
    evidence.recorded("forward pass at batch 32", [1e3 * one for one in seconds], unit="ms")


@claim("itl.graph-speed-is-batching")
def test_a_batch_is_faster_than_one_by_one(evidence):
    """A decode step of 32 sequences, one at a time against batched, in fresh interleaved processes."""
    shape = {"batch": int(evidence.given("batch")), "context_tokens": int(evidence.given("context_tokens"))}
    arm = "claims.experiments.decode_batches:decode"
    setup = "claims.experiments.decode_batches:filled_for_timing"
    evidence.ratio(
        slow=Arm(arm, setup=setup, settings={**shape, "captured": False}),
        fast=Arm(arm, setup=setup, settings={**shape, "captured": True}),
        promised=evidence.given("ratio"),
    )
