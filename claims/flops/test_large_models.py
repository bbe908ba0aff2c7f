"""The same count in the shape of Llama 3.1 8B, and across the sizes of GPT-2."""

from dataclasses import replace

from runtwice import claim

NAMES = {"attention": ("qkv", "out"), "cache": ("cache",), "mlp": ("up", "down"), "head": ("head",)}


def shares_pct(shape, notes):
    """Shares of the products with tables and cache in percent, by formula, and their sum."""
    from implementations.inference.flops import token_flops

    counts = token_flops(shape, int(notes))
    total = sum(counts.values()) - counts["other"]
    return {name: 100 * sum(counts[part] for part in parts) / total for name, parts in NAMES.items()}, total


@claim("flops.eight-billion")
def test_twice_the_parameters(evidence, llama):
    """Entries of every table in that shape, embedding included, and twice those that a token passes."""
    embedding = llama.vocabulary * llama.width
    passed = llama.passed_entries
    evidence.figure("parameters_billion", (passed + embedding) / 1e9)
    evidence.figure("gflop", 2 * passed / 1e9)
    evidence.figure("gflop_with_embedding", 2 * (passed + embedding) / 1e9)
    evidence.figure("gflop_without", 2 * passed / 1e9)


@claim("flops.llama-calculator")
def test_totals_and_shares_at_three_lengths(evidence, llama):
    """The formula in that shape; and that it gives what is counted as it runs, in the same shape made narrow."""
    from claims.experiments.counted_tokens import counted
    from implementations.inference.flops import token_flops

    rows = [shares_pct(llama, notes) for notes in evidence.given("notes")]
    evidence.figure("gflop", [total / 1e9 for _, total in rows])
    for name in NAMES:
        evidence.figure(f"{name}_pct", [shares[name] for shares, _ in rows])
    narrow = replace(llama, layers=2, width=64, hidden=224, vocabulary=500, positions=200)
    for notes in (1, 17, 200):
        evidence.identical(counted(narrow, notes), token_flops(narrow, notes), label=f"as it runs, {notes} notes")


@claim("flops.gqa-saves-bytes-not-flops")
def test_shared_keys_and_values(evidence, llama):
    """Operations as they run and bytes of the cache, for several numbers of key/value heads; the figures either way."""
    from claims.experiments.counted_tokens import counted
    from implementations.inference.cache import Cache
    from implementations.inference.shape import Shape

    notes = int(evidence.given("notes"))
    shape = Shape(layers=2, width=64, heads=8, hidden=256, vocabulary=50, positions=notes)
    work, size = counted(shape, notes)["cache"], Cache(shape).keys.nbytes
    for kv_heads in evidence.given("kv_heads"):
        grouped = replace(shape, kv_heads=kv_heads)
        evidence.identical(counted(grouped, notes)["cache"], work, label=f"operations, {kv_heads} heads")
        evidence.identical(8 * Cache(grouped).keys.nbytes, kv_heads * size, label=f"bytes, {kv_heads} heads")
    evidence.figure("gflop_128", shares_pct(llama, 128)[1] / 1e9)
    far = int(evidence.given("far"))
    shares, total = shares_pct(llama, far)
    evidence.figure("cache_pct_32768", shares["cache"])
    full = total * shares["cache"] / 100
    narrow = full * llama.kv_width / llama.width
    evidence.figure("cache_pct_if_kv_width", 100 * narrow / (total - full + narrow))


@claim("flops.scoreboard-biggest-step")
def test_the_order_of_the_steps(evidence, small_token):
    """Steps of one token by their operations as they run, largest first; and the largest in a long conversation."""
    counts = small_token(evidence.given("notes"))
    total = sum(counts.values())
    evidence.figure("head_pct", 100 * counts["head"] / total)
    evidence.figure("up_pct", 100 * counts["up"] / total)
    steps = ("cache", "down", "head", "out", "qkv", "up")
    evidence.identical(max(steps, key=counts.__getitem__), "head", label="largest")
    evidence.identical(
        [counts["head"] > counts["up"] > counts["qkv"] > counts["out"] > counts["cache"]], [True], label="order"
    )
    evidence.identical(counts["up"] + counts["down"] > counts["head"], True, label="both MLP tables are more")
    far = small_token(evidence.given("far"))
    evidence.identical(max(steps, key=far.__getitem__), "cache", label="largest of a long conversation")


@claim("flops.scoreboard-shrinks-big")
def test_the_vocabulary_in_the_large_shape(evidence, llama):
    """Shares of the vocabulary and of the MLP, by formula."""
    shares, _ = shares_pct(llama, evidence.given("notes"))
    evidence.figure("head_pct", shares["head"])
    evidence.figure("mlp_pct", shares["mlp"])
    evidence.figure("three_quarters", shares["mlp"])


@claim("flops.scoreboard-share-trend")
def test_the_vocabularys_share_falls(evidence, llama):
    """Its share in the four sizes of GPT-2, smallest first, and in the shape of 8 billion, by formula."""
    from implementations.inference.shape import GPT2_LARGE, GPT2_MEDIUM, GPT2_SMALL, GPT2_XL

    notes = evidence.given("notes")
    family = (GPT2_SMALL, GPT2_MEDIUM, GPT2_LARGE, GPT2_XL)
    shares = [shares_pct(shape, notes)[0]["head"] for shape in family]
    evidence.figure("small_pct", _of_all(GPT2_SMALL, notes))
    evidence.figure("big_pct", shares_pct(llama, notes)[0]["head"])
    evidence.figure("family_pct", shares)
    evidence.identical(shares, sorted(shares, reverse=True), label="falls")
    evidence.identical(len(set(shares)), len(shares), label="at every step")


def _of_all(shape, notes):
    """The vocabulary's share where the small operations count as well, as in the post's table of the small model."""
    from implementations.inference.flops import token_flops

    counts = token_flops(shape, int(notes))
    return 100 * counts["head"] / sum(counts.values())


@claim("flops.llama-32k-majority")
def test_the_cache_in_the_large_shape(evidence, llama):
    """Its share at 32,768 notes, and the first number of notes at which it is more than half."""
    from implementations.inference.flops import cache_majority_notes

    evidence.figure("cache_pct", shares_pct(llama, evidence.given("notes"))[0]["cache"])
    first = cache_majority_notes(llama)
    beside = [shares_pct(llama, notes)[0]["cache"] > 50 for notes in (first - 1, first)]
    evidence.identical(beside, [False, True], label="one note fewer is not enough")
    evidence.figure("first_majority_notes", first)


@claim(
    "flops.big-models-thinking-rule",
    expect="refuted",
    because="35.0 percent at 32,768 notes; it is more than half up to 14,379 notes",
)
def test_the_mlps_share_at_every_length(evidence, llama):
    """Its share at the lengths of the post's own table, and the last number of notes at which it is more than half."""
    notes = evidence.given("notes")
    shares = [shares_pct(llama, one)[0]["mlp"] for one in notes]
    evidence.figure("mlp_pct", shares)
    evidence.figure("last_majority_notes", _last_above(llama, evidence.given("majority"), max(notes)))
    for one, share in zip(notes, shares):
        evidence.identical(bool(share > 100 * evidence.given("majority")), True, label=f"most at {one} notes")


def _last_above(shape, share, beyond):
    """The last number of notes with the MLP above a share, by halving; it is below at `beyond`."""
    low, high = 1, int(beyond)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if shares_pct(shape, middle)[0]["mlp"] > 100 * share else (low, middle)
    return low
