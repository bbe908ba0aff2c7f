"""What the recap says of itself."""

from runtwice import claim


@claim(
    "boosting.ten-posts",
    expect="refuted",
    because="ten headings, but two of them (and the sheet) come without a figure and two with several",
)
def test_each_post_has_one_result(evidence):
    """Headings of the recap, and results with a number under each."""
    results = evidence.given("results")
    evidence.figure("posts", len(results))
    evidence.figure("results_of_each", [int(count) for count in results.values()])


@claim("boosting.six-results")
def test_summary_and_list_agree(evidence):
    """Items of the summary line against those of the list."""
    summary, listed = ([str(item) for item in evidence.given(name)] for name in ("summary", "list"))
    evidence.figure("results", len(summary))
    evidence.identical(summary, listed)


@claim(
    "boosting.surprises-from-data",
    expect="refuted",
    because="one surprise of six comes from the data; four vary a setting or the algorithm, one the library",
)
def test_every_surprise_varies_the_data(evidence):
    """What differs between the two figures of each surprise."""
    varied = {str(name): str(what) for name, what in evidence.given("varied").items()}
    evidence.identical(varied, dict.fromkeys(varied, "data"))
