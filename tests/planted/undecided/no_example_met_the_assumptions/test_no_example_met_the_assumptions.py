from hypothesis import assume, given
from hypothesis import strategies as st

from runtwice import claim


@claim("no_example_met_the_assumptions.claim")
def test_no_example_met_the_assumptions(evidence):
    """A property whose assumptions rule out every input."""

    @given(st.integers())
    def one_cause(gap_ms):
        assume(gap_ms > 0 and gap_ms < 0)
        raise AssertionError

    evidence.every(one_cause)
