from runtwice import claim
from runtwice.timing import Arm


@claim("arm_that_cannot_be_imported.claim")
def test_arm_that_cannot_be_imported(evidence):
    """A function on the spot cannot be timed in a process of its own."""
    evidence.ratio(slow=Arm(lambda: sum(range(10))), fast=Arm("builtins:abs"))
