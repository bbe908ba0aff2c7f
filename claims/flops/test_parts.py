"""What each part of a token's work costs, and what it computes."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runtwice import claim


def compare_table(evidence, small_token, small_weights, name):
    """Millions of operations a layer of one table, and its sides."""
    layers = small_weights.layers
    counts = small_token(evidence.given("notes"))
    evidence.figure("mflop", counts[name] / len(layers) / 1e6)
    rows, columns = getattr(layers[0], name).shape
    evidence.figure("rows", rows)
    evidence.figure("columns", columns)


@claim("flops.qkv-cost")
def test_queries_keys_and_values(evidence, small_token, small_weights):
    """Operations of the product in one token's pass, by layer."""
    compare_table(evidence, small_token, small_weights, "qkv")


@claim("flops.outproj-cost")
def test_output_of_attention(evidence, small_token, small_weights):
    """Operations of the product in one token's pass, by layer."""
    compare_table(evidence, small_token, small_weights, "out")


@claim("flops.qkv-fused-equals-separate")
def test_one_wide_table_is_three(evidence):
    """Largest difference between thirds of one product and three products, over seeds, in float32 and float64."""
    width = int(evidence.given("width"))
    for seed in range(evidence.given("seeds")):
        rng = np.random.default_rng(seed)
        for dtype in (np.float32, np.float64):
            x = rng.standard_normal((1, width)).astype(dtype)
            table = (0.02 * rng.standard_normal((width, 3 * width))).astype(dtype)
            thirds = np.split(x @ table, 3, axis=1)
            separate = [x @ np.ascontiguousarray(part) for part in np.split(table, 3, axis=1)]
            evidence.identical(thirds, separate, label=np.dtype(dtype).name)
    evidence.figure("columns", table.shape[1])


@claim("flops.notebook-formula")
def test_four_operations_a_unit_and_note(evidence):
    """Operations of one reading of the cache, for several numbers of heads and of notes."""
    from claims.experiments.counted_tokens import attention_operations

    width = int(evidence.given("width"))
    for heads, kv_heads in evidence.given("heads"):
        for notes in evidence.given("notes"):
            found = attention_operations(width, heads, kv_heads, notes)
            evidence.identical(found, 4 * width * notes, label=f"{heads}/{kv_heads} heads, {notes} notes")
    evidence.figure("factor", Fraction(attention_operations(width, 12, 12, 1000), width * 1000))
    for notes in (128, 8192):
        evidence.figure(f"mflop_{notes}", attention_operations(width, 12, 12, notes) / 1e6)


@claim("flops.notebook-linear")
def test_only_the_cache_grows(evidence, small_token):
    """Operations of one token by part at several numbers of notes: steps of the cache's, changes of the tables'."""
    from implementations.inference.flops import TABLES

    notes = [int(one) for one in evidence.given("notes")]
    counts = [small_token(one) for one in notes]
    slopes = [
        Fraction(after["cache"] - before["cache"], later - earlier)
        for before, after, earlier, later in zip(counts, counts[1:], notes, notes[1:])
    ]
    evidence.figure("mflop_per_note", slopes[0] / 10**6)
    evidence.identical(len(set(slopes)), 1, label="slopes")
    evidence.identical(counts[0]["cache"], slopes[0] * notes[0], label="from nothing")
    tables = [{name: one[name] for name in TABLES} for one in counts]
    evidence.identical(tables[1:], [tables[0]] * (len(tables) - 1), label="tables")
    evidence.figure("tables_grow", "Yes" if any(one != tables[0] for one in tables) else "No")
    evidence.figure("cache_grows", "Yes" if counts[-1]["cache"] > counts[0]["cache"] else "No")


@claim("flops.mlp-cost")
def test_widening_and_narrowing(evidence, small_token, small_weights):
    """Operations of both products in one token's pass, by layer."""
    counts, layers = small_token(evidence.given("notes")), small_weights.layers
    evidence.figure("expand_mflop", counts["up"] / len(layers) / 1e6)
    evidence.figure("shrink_mflop", counts["down"] / len(layers) / 1e6)
    width, hidden = layers[0].up.shape
    evidence.figure("hidden", hidden)
    evidence.figure("expansion", Fraction(hidden, width))


@claim("flops.mlp-two-thirds")
def test_the_mlp_beside_attention(evidence, llama):
    """Operations of a layer's tables as they run at several widths; entries in the shape of Llama 3.1 8B."""
    from claims.experiments.counted_tokens import counted
    from implementations.inference.shape import Shape

    for width in evidence.given("widths"):
        shape = Shape(layers=1, width=width, heads=4, hidden=4 * width, vocabulary=2, positions=4)
        counts = counted(shape, 2)
        mlp, attention = counts["up"] + counts["down"], counts["qkv"] + counts["out"]
        evidence.identical(Fraction(mlp, attention), Fraction(2), label=f"over attention at {width}")
    evidence.figure("over_attention", Fraction(mlp, attention))
    evidence.figure("share_pct", Fraction(100 * mlp, mlp + attention))
    entries = {name: rows * columns for name, (rows, columns) in llama.matrices.items()}
    evidence.figure("llama_share_pct", 100 * (entries["up"] + entries["down"]) / sum(entries.values()))


@claim("flops.scoreboard-cost")
def test_scoring_the_vocabulary(evidence, small_token, small_weights):
    """Operations of the last product in one token's pass."""
    found = small_token(evidence.given("notes"))["head"] / 1e6
    evidence.figure("mflop", found)
    evidence.figure("table_mflop", found)
    evidence.figure("rows", small_weights.head.shape[0])
    evidence.figure("columns", small_weights.head.shape[1])


@claim("flops.softmax-weights-and-argmax")
def test_weights_favour_the_better_match(evidence):
    """Weights of random queries and keys: their sum, their order, one key turned to the query; and tokens written."""
    from implementations.inference.attention import attend
    from implementations.inference.cache import Cache
    from implementations.inference.decoder import Decoder
    from implementations.inference.shape import Shape
    from implementations.inference.weights import Weights

    def weights_of(query, keys):
        unit = np.eye(len(keys), dtype=np.float32)  # as values it brings the weights to light
        return attend(query[None, None, None], keys[None], unit[None])[0, 0, 0]

    @given(seed=st.integers(0, 2**32 - 1), notes=st.integers(2, 40), spread=st.sampled_from([0.01, 1.0, 5.0]))
    def weighted(seed, notes, spread):
        rng = np.random.default_rng(seed)
        query = rng.standard_normal(notes, dtype=np.float32)
        keys = np.float32(spread) * rng.standard_normal((notes, notes), dtype=np.float32)
        weights = weights_of(query, keys)
        assert (weights >= 0).all()
        assert abs(float(weights.sum(dtype=np.float64)) - 1) < 1e-6
        order = np.argsort(keys.astype(np.float64) @ query)
        assert (np.diff(weights[order]) >= -1e-7).all()
        nearer = keys.copy()
        nearer[order[0]] += query / np.float32(np.linalg.norm(query))
        assert weights_of(query, nearer)[order[0]] >= weights[order[0]]

    @given(seed=st.integers(0, 2**32 - 1))
    def likeliest(seed):
        rng = np.random.default_rng(seed)
        shape = Shape(layers=2, width=16, heads=2, hidden=32, vocabulary=30, positions=16)
        decoder, prompt = Decoder(Weights.random(shape, rng)), rng.integers(0, 30, 4).tolist()
        for token in decoder.generate(prompt, 4):
            logits = decoder.extend(prompt, Cache(shape))[0]
            assert logits[token] >= logits.max() - 1e-6
            prompt.append(token)

    evidence.every(weighted, label="weights")
    evidence.every(likeliest, label="tokens")


@claim("flops.gelu-curve")
def test_the_curve_between_the_tables(evidence):
    """The curve over a grid of numbers; two tables with and without it against their product."""
    from implementations.inference.activation import gelu

    grid = np.linspace(-30, 30, 60_001, dtype=np.float32)
    curve = gelu(grid.reshape(1, -1).copy())[0]
    negative, small, large = grid < 0, np.abs(grid) < evidence.given("small"), grid > evidence.given("large")
    shrunk = np.abs(curve[negative]) < np.abs(grid[negative])
    evidence.identical(bool(shrunk.all()), True, label="negative numbers shrink")
    bound = evidence.given("small_share") * np.abs(grid[small])
    evidence.identical(bool((np.abs(curve[small]) <= bound).all()), True, label="small numbers shrink")
    passed = curve[large] / grid[large]
    evidence.identical(bool((passed > evidence.given("large_share")).all()), True, label="large numbers pass")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 32), dtype=np.float32)
    up, down = (rng.standard_normal(size, dtype=np.float32) / 6 for size in ((32, 128), (128, 32)))
    evidence.identical(x @ up @ down, x @ (up @ down), label="collapsed")
    bent = gelu(x @ up) @ down
    twice = gelu(2 * x @ up) @ down
    evidence.identical(bool(np.abs(twice - 2 * bent).max() > 0.01), True, label="with the curve it is no linear map")
    evidence.figure("units", _units(int(evidence.given("units"))))


def _units(hidden):
    """How many numbers go through the curve in one token's pass through one layer of that hidden width."""
    from claims.experiments.counted_tokens import counted
    from implementations.inference.flops import GELU_PER_UNIT
    from implementations.inference.shape import Shape

    with_units, without = (
        counted(Shape(layers=1, width=768, heads=12, hidden=size, vocabulary=2, positions=4), 1)["other"]
        for size in (hidden, 1)
    )
    return Fraction(with_units - without, GELU_PER_UNIT) + 1


@claim("flops.one-pass-per-token")
def test_each_token_passes_every_layer_once(evidence):
    """Attention and MLP begun while tokens are written, in a narrow model of as many layers; entries of the cache."""
    from claims.experiments.counted_tokens import gpt2_small
    from implementations.inference.cache import Cache
    from implementations.inference.decoder import Decoder
    from implementations.inference.shape import Shape
    from implementations.inference.weights import Weights

    begun = []
    layers, prompt = gpt2_small().layers, int(evidence.given("prompt"))
    shape = Shape(layers=layers, width=8, heads=2, hidden=16, vocabulary=20, positions=32)
    decoder = Decoder(Weights.random(shape, np.random.default_rng(0)), begun.append)
    for tokens in evidence.given("tokens"):
        cache = Cache(shape)
        decoder.extend([1] * prompt, cache)
        begun.clear()
        for _ in range(tokens):
            before = cache.length_tokens
            decoder.extend([2], cache)
            evidence.identical(cache.length_tokens, before + 1, label="entries")
        passes = [begun.count("qkv"), begun.count("up"), begun.count("head") * layers]
        evidence.identical(passes, [tokens * layers] * 3, label=f"passes of {tokens} tokens")
    evidence.figure("layers", Fraction(begun.count("qkv"), int(tokens)))


@claim("flops.cheatsheet-formulas")
def test_the_formulas_for_any_shape(evidence):
    """Operations of one token's pass as they run, in shapes that hypothesis makes up, against the sheet's lines."""
    from claims.experiments.counted_tokens import counted
    from implementations.inference.shape import Shape

    sizes = st.tuples(st.integers(1, 4), st.integers(1, 12), st.integers(1, 5), st.integers(1, 90), st.integers(1, 40))

    @given(sizes=sizes)
    def as_on_the_sheet(sizes):
        layers, size, heads, vocabulary, notes = sizes
        w = size * heads
        shape = Shape(layers, w, heads, hidden=4 * w, vocabulary=vocabulary, positions=64)
        found = counted(shape, notes)
        assert found["lookup"] == 0
        assert found["qkv"] == layers * (2 * w * 3 * w)
        assert found["cache"] == layers * (4 * w * notes)
        assert found["out"] == layers * (2 * w * w)
        assert found["up"] + found["down"] == layers * (2 * w * 4 * w) * 2
        assert found["head"] == 2 * w * vocabulary
        longer = counted(shape, notes + 3)
        assert {name for name in found if longer[name] != found[name]} == {"cache", "other"}

    evidence.every(as_on_the_sheet)
