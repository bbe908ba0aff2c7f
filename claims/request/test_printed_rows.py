"""What the post's own figures say of one another: no model, only arithmetic on what is printed."""

from runtwice import claim

TABLE = "request.results-table"


@claim("request.results-table-arithmetic")
def test_rates_are_gaps_over_the_time_after_the_first_token(evidence):
    """The rate of each row from its total and its first token, all of them free within their rounding."""
    evidence.derived(
        "tokens_per_s",
        lambda gaps, total_s, ttft_ms: [gaps / (total - first / 1e3) for total, first in zip(total_s, ttft_ms)],
        evidence.printed("gaps"),
        evidence.printed("total_s", of=TABLE),
        evidence.printed("ttft_ms", of=TABLE),
    )


@claim("request.timeline-256")
def test_the_timeline_follows_from_the_table(evidence):
    """Each figure of the drawing from the row of 256 tokens."""
    row = {name: evidence.printed(name, of=TABLE)[1] for name in ("read_ms", "ttft_ms", "gap_p50_ms", "total_s")}
    evidence.derived("read_ms", lambda ms: ms, row["read_ms"])
    evidence.derived("ttft_s", lambda ms: ms / 1e3, row["ttft_ms"])
    evidence.derived("gap_ms", lambda ms: ms, row["gap_p50_ms"])
    evidence.derived("typing_s", lambda total_s, ttft_ms: total_s - ttft_ms / 1e3, row["total_s"], row["ttft_ms"])


@claim(
    "request.typing-estimate",
    expect="refuted",
    because="1132.6 ms and 63 gaps of 27.2 ms are 2.843 to 2.850 s, which is 2.8",
)
def test_the_estimate_is_its_own_sum(evidence):
    """The first token and 63 median gaps of the row of 256 tokens, free within their rounding."""
    evidence.derived(
        "estimate_s",
        lambda gaps, ttft_ms, gap_ms: (ttft_ms + gaps * gap_ms) / 1e3,
        evidence.printed("gaps"),
        evidence.printed("ttft_ms", of=TABLE)[1],
        evidence.printed("gap_p50_ms", of=TABLE)[1],
    )


@claim("request.typing-share-256")
def test_the_share_of_writing(evidence):
    """Total less first token over total, in the row of 256 tokens."""
    answer, question = (evidence.given(name) for name in ("answer_tokens", "question_tokens"))
    evidence.figure("length_ratio", answer / question)
    evidence.derived(
        "typing_pct",
        lambda total_s, ttft_ms: 100 * (total_s - ttft_ms / 1e3) / total_s,
        evidence.printed("total_s", of=TABLE)[1],
        evidence.printed("ttft_ms", of=TABLE)[1],
    )


@claim("request.throughput-two-kinds")
def test_each_has_an_equal_share(evidence):
    """All tokens over all people."""
    total, people = evidence.printed("total_tok_s"), evidence.printed("people")
    evidence.derived("each_tok_s", lambda total, people: total / people, total, people)


@claim("request.streaming-feels-faster")
def test_the_first_text_comes_earlier(evidence):
    """By how much of the whole wait, in the row of 256 tokens."""
    evidence.derived(
        "earlier_pct",
        lambda total_s, ttft_ms: 100 * (1 - ttft_ms / 1e3 / total_s),
        evidence.printed("total_s", of=TABLE)[1],
        evidence.printed("ttft_ms", of=TABLE)[1],
    )
