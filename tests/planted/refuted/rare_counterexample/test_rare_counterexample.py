from hypothesis import given, settings
from hypothesis import strategies as st

from runtwice import claim


@claim("rare_counterexample.claim")
def test_rare_counterexample(evidence):
    """Wrong for one input in a hundred; the smallest one is told."""

    @given(st.integers(0, 99))
    @settings(max_examples=300)
    def one_cause(gap_ms):
        causes = 1 if gap_ms != 73 else 2
        assert causes == 1

    evidence.every(one_cause)
