from hypothesis import given
from hypothesis import strategies as st

from runtwice import claim


@claim("property_that_does_not_repeat.claim")
def test_property_that_does_not_repeat(evidence):
    """It fails once, and not when it is tried again."""
    calls = []

    @given(st.integers())
    def one_cause(gap_ms):
        calls.append(gap_ms)
        assert len(calls) != 5

    evidence.every(one_cause)
