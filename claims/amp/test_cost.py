"""What the printed times say of one another: arithmetic, no model."""

import math

from runtwice import claim


@claim("amp.speedup")
def test_the_ratio_of_the_two_epochs(evidence):
    """The printed times divided."""
    evidence.derived("speedup", lambda full, mixed: full / mixed, evidence.printed("fp32_s"), evidence.printed("amp_s"))


@claim("amp.run-cost-2-1x")
def test_the_ratio_to_one_place(evidence):
    """The printed times divided."""
    evidence.derived("factor", lambda full, mixed: full / mixed, evidence.printed("fp32_s"), evidence.printed("amp_s"))


@claim("amp.speedup-below-matmul")
def test_the_share_of_the_products(evidence):
    """The share of an epoch that must become so much faster for the whole to gain what it did (Amdahl)."""
    evidence.derived(
        "share",
        lambda overall, products: (1 - 1 / overall) / (1 - 1 / products),
        evidence.printed("overall"),
        evidence.printed("products"),
    )


@claim("amp.trials-per-day")
def test_trials_finished_in_a_day(evidence):
    """Whole trials that fit into a day of 86,400 seconds."""
    epochs = evidence.printed("epochs")
    for name, seconds in (("before", "fp32_s"), ("after", "amp_s")):
        evidence.derived(name, lambda s, n: math.floor(86_400 / (s * n)), evidence.printed(seconds), epochs)


@claim("amp.search-days-after")
def test_how_long_the_search_takes(evidence):
    """Thirty trials of all epochs, in days."""
    inputs = [evidence.printed(name) for name in ("trials", "epochs", "amp_s")]
    evidence.derived("days", lambda *factors: _in_words(math.prod(factors) / 86_400), *inputs)
    evidence.derived("days_exactly", lambda *factors: math.prod(factors) / 86_400, *inputs)


def _in_words(days):
    return "a little over one" if 1 < days < 1.25 else f"{days:.2f}"


@claim(
    "amp.overnight-search",
    expect="refuted",
    because="thirty trials take 27.7 hours; a night of twelve finishes twelve of them",
)
def test_how_many_nights_the_search_takes(evidence):
    """Nights begun until thirty trials are done, with nothing run by day."""
    inputs = [evidence.printed(name) for name in ("trials", "epochs", "amp_s")]
    night_s = 3600 * int(evidence.given("night_h"))
    evidence.derived("nights", lambda *factors: math.ceil(math.prod(factors) / night_s), *inputs)
