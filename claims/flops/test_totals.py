"""What all parts of a token's work come to, how that grows, and the rule that fits on a note."""

import numpy as np

from runtwice import claim


@claim("flops.table-128")
def test_every_row_of_the_table(evidence, small_token):
    """Operations of one token as they run, part by part, and each part's share."""
    counts = small_token(evidence.given("notes"))
    total = sum(counts.values())
    evidence.figure("total_mflop", total / 1e6)
    for part, count in counts.items():
        evidence.figure(f"{part}_mflop", count / 1e6)
        evidence.figure(f"{part}_pct", 100 * count / total)


@claim("flops.total-by-notes")
def test_totals_at_three_lengths(evidence, small_token):
    """Operations of one token as they run; the printed totals less the formula for tables and cache."""
    from claims.experiments.counted_tokens import gpt2_small
    from implementations.inference.flops import rule_of_thumb

    notes = [int(one) for one in evidence.given("notes")]
    evidence.figure("mflop", [sum(small_token(one).values()) / 1e6 for one in notes])
    for printed, one in zip(evidence.printed("mflop"), notes):
        left = 1e6 * printed - rule_of_thumb(gpt2_small(), one)
        small = 0 < left < evidence.given("most_small_share") * 1e6 * printed
        evidence.identical(bool(small), True, label=f"what is left at {one} notes")


@claim("flops.share-by-notes")
def test_shares_of_the_cache(evidence, small_token):
    """The cache's share of the operations of one token as they run."""
    counts = [small_token(int(notes)) for notes in evidence.given("notes")]
    for part in counts[0]:
        evidence.keep(f"operations of {part}", [one[part] for one in counts])
    evidence.figure("share_pct", [100 * one["cache"] / sum(one.values()) for one in counts])


@claim("flops.other-grows-with-notes")
def test_what_the_totals_leave_for_small_operations(evidence, small_token):
    """What the printed totals leave beyond tables and cache, its slope over notes; our own softmax's operations."""
    from claims.experiments.counted_tokens import gpt2_small
    from implementations.inference.flops import rule_of_thumb

    short, middle, long = (int(one) for one in evidence.given("notes"))
    shape = gpt2_small()

    def left(mflop, notes):
        return 1e6 * mflop - rule_of_thumb(shape, notes)

    totals = {notes: evidence.printed(f"mflop_{notes}") for notes in (short, middle, long)}
    evidence.derived("other_128_mflop", lambda mflop: left(mflop, short) / 1e6, totals[short])
    for far in (middle, long):
        evidence.derived(
            "per_note",
            lambda near, other, far=far: (left(other, far) - left(near, short)) / (far - short),
            totals[short],
            totals[far],
        )
    grown = small_token(long)["other"] - small_token(short)["other"]
    evidence.figure("per_score", grown / (long - short) / (shape.layers * shape.heads))


@claim("flops.tables-98-percent")
def test_almost_all_is_tables(evidence, small_token):
    """Operations of one token's products with tables, of the cache and of the rest, as they run."""
    from implementations.inference.flops import TABLES

    def shares(notes):
        counts = small_token(notes)
        tables = sum(counts[name] for name in TABLES)
        return tables, counts, sum(counts.values())

    tables, counts, total = shares(int(evidence.given("notes")))
    evidence.figure("tables_mflop", tables / 1e6)
    evidence.figure("total_mflop", total / 1e6)
    evidence.figure("tables_pct", 100 * tables / total)
    evidence.figure("cache_pct", 100 * counts["cache"] / total)
    evidence.figure("other_pct", 100 * counts["other"] / total)
    tables, _, total = shares(8192)
    evidence.figure("tables_pct_8192", 100 * tables / total)


@claim("flops.param-count")
def test_entries_of_all_tables(evidence, small_weights):
    """Sizes of the arrays of a model of that shape."""
    layers = [
        sum(np.size(getattr(layer, name)) for name in ("qkv", "out", "up", "down")) for layer in small_weights.layers
    ]
    head = int(np.size(small_weights.head))
    evidence.figure("layer", layers[0])
    evidence.figure("layers", sum(layers))
    evidence.figure("head", head)
    evidence.figure("total", sum(layers) + head)
    evidence.figure("about_million", (sum(layers) + head) / 1e6)
    evidence.figure("doubled_mflop", 2 * (sum(layers) + head) / 1e6)


@claim("flops.sticky-note-rule")
def test_the_rule_beside_two_counts(evidence, small_token, small_weights):
    """Twice the entries and four times layers, width and notes, against our count as it runs and torch's counter."""
    from claims.experiments import torch_counts
    from claims.experiments.counted_tokens import gpt2_small

    shape = gpt2_small()
    entries = small_weights.passed_bytes // 4
    evidence.figure("doubled_mflop", 2 * entries / 1e6)
    evidence.figure("measured_mflop", sum(small_token(128).values()) / 1e6)
    for notes in map(int, evidence.given("notes")):
        rule = 2 * entries + 4 * shape.layers * shape.width * notes
        evidence.identical(sum(small_token(notes).values()), rule, label=f"as it runs, {notes} notes")
        evidence.identical(torch_counts.token_operations(shape, notes), rule, label=f"torch's counter, {notes} notes")


@claim("flops.counter-is-formula")
def test_what_an_independent_count_catches(evidence, small_token):
    """A helper that charges by formula, with a mistake in it, beside counts that share nothing with it.

    The counts: loops over single numbers through a whole narrow model, and torch's counter. What torch's counter does
    not see on a CPU is kept beside.
    """
    from claims.experiments import torch_counts
    from claims.experiments.counted_tokens import counted
    from claims.experiments.scalar_loops import last_token_counts
    from implementations.inference.flops import TABLES
    from implementations.inference.shape import Shape
    from implementations.inference.weights import Weights

    shape = Shape(layers=2, width=12, heads=3, hidden=48, vocabulary=20, positions=8)
    weights = Weights.random(shape, np.random.default_rng(0))
    notes = int(evidence.given("notes"))
    _, looped = last_token_counts(weights, [1, 4, 2, 7, 3][:notes])
    halved = charged(weights, per_entry=1)
    evidence.procedure(
        wrong=halved, right=charged(weights, per_entry=2), correct=_tables(looped), label="one operation an entry"
    )
    evidence.procedure(
        wrong=halved,
        right=_tables(counted(shape, notes)),
        correct=_tables(looped),
        label="counted as they run",
    )
    rows, columns, batch = (int(evidence.given(name)) for name in ("rows", "columns", "batch"))
    evidence.procedure(
        wrong=2 * rows * columns,
        right=_tallied_product(batch, rows, columns),
        correct=torch_counts.through_matrix(rows, columns, batch),
        label="a batch charged as one token",
    )
    evidence.figure("measured_mflop", sum(small_token(128).values()) / 1e6)
    evidence.figure("rule_mflop", sum(small_token(128)[name] for name in TABLES) / 1e6)
    evidence.figure("torch_fused_attention", torch_counts.fused_attention())
    evidence.figure("torch_matrix_vector", torch_counts.matrix_vector())
    evidence.figure("torch_dot", torch_counts.dot_product())
    evidence.figure("torch_encoder_evaluated", torch_counts.encoder_layer(with_gradients=False))
    evidence.figure("torch_encoder_with_gradients", torch_counts.encoder_layer(with_gradients=True))


def charged(weights, per_entry):
    """What a helper called once a product charges, table by table: so much an entry, whatever goes through."""
    charges = {"head": per_entry * weights.head.shape[0] * weights.head.shape[1]}
    for layer in weights.layers:
        for name in ("qkv", "out", "up", "down"):
            rows, columns = getattr(layer, name).shape
            charges[name] = charges.get(name, 0) + per_entry * rows * columns
    return charges


def _tables(counts):
    return {name: counts[name] for name in ("head", "qkv", "out", "up", "down")}


def _tallied_product(batch, rows, columns):
    from implementations.inference.tally import Tally

    tally = Tally()
    tally.array(np.ones((batch, rows), np.float32)) @ np.ones((rows, columns), np.float32)
    return tally.total
