"""What the rules are: identities of votes and blends, on any input."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from runtwice import claim

PROBABILITIES = npst.arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(2, 6)), elements=st.floats(0, 1))


@claim("voting.knn-multiples")
def test_values_that_fifteen_neighbours_can_say(evidence):
    """Probabilities times the number of neighbours, on rows where every count occurs."""
    from sklearn.neighbors import KNeighborsClassifier

    from claims.experiments import ensemble_canaries

    for name, values in ensemble_canaries.vote_scores().items():
        evidence.figure(f"canary_{name}", values)
    neighbours = evidence.given("neighbours")
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(4000, 1))
    y = rng.uniform(size=4000) < 1 / (1 + np.exp(-4 * X[:, 0]))
    said = KNeighborsClassifier(neighbours).fit(X[:2000], y[:2000]).predict_proba(X[2000:])[:, 1]
    counts = np.round(neighbours * said)
    evidence.figure("values", len(np.unique(counts)))
    evidence.identical(neighbours * said, counts, label="multiples")


@claim("voting.soft-equals-mean")
def test_the_mean_is_the_librarys_soft_vote(evidence, post_members):
    """Row means against VotingClassifier's probabilities on the post's data, every row of them."""
    from sklearn.ensemble import VotingClassifier

    from claims.experiments import vote_members
    from implementations.ensembles.voting import soft_vote

    seed = evidence.given("seed")
    found, data = post_members(seed).only(4), vote_members.rows(seed)
    library = VotingClassifier(list(vote_members.four().items()), voting="soft").fit(data.X_train, data.y_train)
    theirs, mine = library.predict_proba(data.X_test)[:, 1], soft_vote(found.test)
    evidence.figure("mine", vote_members.loss(mine, found.y_test))
    evidence.figure("sklearn", vote_members.loss(theirs, found.y_test))
    evidence.identical(mine, theirs, label="probabilities")


@claim("voting.hard-is-majority")
def test_a_majority_whatever_the_certainty(evidence):
    """Against VotingClassifier on small data; 3 to 1; and certainty moved without crossing one half."""
    from sklearn.datasets import make_classification
    from sklearn.ensemble import VotingClassifier
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    from implementations.ensembles.voting import hard_vote

    X, y = make_classification(400, flip_y=0.2, random_state=0)
    members = [
        ("a", GaussianNB()),
        ("b", KNeighborsClassifier(3)),
        ("c", DecisionTreeClassifier(max_depth=2)),
        ("d", DecisionTreeClassifier(max_depth=9, random_state=0)),
    ]
    library = VotingClassifier(members, voting="hard").fit(X[:200], y[:200])
    labels = np.stack([member.predict(X[200:]) for member in library.estimators_], axis=1)
    evidence.identical(hard_vote(labels).tolist(), library.predict(X[200:]).tolist(), label="library")
    evidence.identical(hard_vote([["ship", "ship", "hold", "ship"]]).tolist(), ["ship"], label="3 to 1")
    said = np.array([[0.51, 0.52, 0.01], [0.99, 0.98, 0.49]])
    evidence.identical(hard_vote(said > 0.5).tolist(), [True, True], label="certainty")


@claim("voting.members-comparable")
def test_a_monotone_change_of_one_member(evidence):
    """One member's scores squeezed or stretched on either side of one half: the hard vote stays, the mean moves."""
    from implementations.ensembles.voting import hard_vote, soft_vote

    rng = np.random.default_rng(0)
    said = rng.uniform(size=(200, 3))
    changed = said.copy()
    changed[:, 0] = 0.5 + 0.2 * (said[:, 0] - 0.5)
    evidence.identical(hard_vote(changed > 0.5).tolist(), hard_vote(said > 0.5).tolist(), label="hard")
    evidence.identical(bool(((soft_vote(changed) > 0.5) != (soft_vote(said) > 0.5)).any()), True, label="soft moves")


@claim("voting.blend.convex-hull")
def test_no_blend_leaves_its_members_range(evidence):
    """Blends of any probabilities by any weights on the simplex, row by row."""
    from implementations.ensembles.blending import fit_blend

    @given(PROBABILITIES, st.data())
    def inside(said, data):
        n = len(said)
        labels = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
        mixed = fit_blend(said, labels, np.arange(n)).predict_proba(said)
        assert (mixed >= said.min(axis=1) - 1e-12).all()
        assert (mixed <= said.max(axis=1) + 1e-12).all()

    evidence.every(inside)
