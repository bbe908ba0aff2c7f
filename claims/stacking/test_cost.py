"""What a stack costs beside its best member."""

from runtwice import Arm, claim

EXPERIMENT = "claims.experiments.stack_serving"


@claim("stacking.serving-cost")
def test_stack_and_booster_side_by_side(evidence):
    """Time to answer for 900 rows and to be fitted, of the stack and of its booster, by turns in fresh processes."""
    shape = {"n_rows": int(evidence.given("rows")), "n_trees": int(evidence.given("trees"))}
    stack, booster = (
        Arm(f"{EXPERIMENT}:answer", setup=f"{EXPERIMENT}:serving", settings={**shape, "stacked": stacked})
        for stacked in (True, False)
    )
    evidence.ratio(slow=stack, fast=booster, label="serving")
    evidence.ratio(
        slow=Arm(f"{EXPERIMENT}:fitted_stack", settings=shape),
        fast=Arm(f"{EXPERIMENT}:fitted_booster", settings=shape),
        label="training",
    )
