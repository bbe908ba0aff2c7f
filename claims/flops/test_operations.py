"""What is charged for a product with a table, and what it strictly takes."""

from collections import Counter

import numpy as np

from runtwice import claim


def counted_product(vector, table, from_zero=True):
    """A product in loops over numbers that count: its values, and its multiplications and additions."""
    from claims.experiments import scalar_loops

    ledger = Counter()
    rows = [scalar_loops.numbers(row, ledger) for row in table]
    result = scalar_loops.through_matrix(scalar_loops.numbers(vector, ledger), rows, from_zero)
    return [one.value for one in result], ledger["multiply"], ledger["add"]


def tallied_product(vector, table):
    """Operations of the same product of arrays, counted as it runs."""
    from implementations.inference.tally import Tally

    tally = Tally()
    tally.array(np.asarray(vector, np.float32)) @ np.asarray(table, np.float32)
    return tally.total


@claim("flops.rule-two-per-weight")
def test_two_operations_an_entry(evidence):
    """Multiplications and additions of products in loops over single numbers, and of the same products of arrays."""
    word, table = evidence.given("word"), evidence.given("table")
    _, multiplies, adds = counted_product(word, table)
    evidence.figure("multiply_adds", multiplies)
    evidence.figure("flops", multiplies + adds)
    evidence.figure("per_multiply_add", (multiplies + adds) / multiplies)
    evidence.identical(tallied_product(word, table), multiplies + adds, label="toy")
    rng = np.random.default_rng(0)
    for rows, columns in evidence.given("shapes"):
        vector, numbers = rng.standard_normal(rows), rng.standard_normal((rows, columns))
        _, multiplies, adds = counted_product(vector, numbers)
        counts = [multiplies + adds, tallied_product(vector, numbers)]
        evidence.identical(counts, [2 * rows * columns] * 2, label=f"{rows} x {columns}")


@claim("flops.toy-product")
def test_the_worked_example(evidence):
    """The product of arrays, and in loops."""
    word, table = evidence.given("word"), evidence.given("table")
    evidence.figure("result", np.array(word) @ np.array(table))
    evidence.identical(counted_product(word, table)[0], np.array(word) @ np.array(table))


@claim("flops.strict-count")
def test_the_charge_comes_close(evidence):
    """Operations of products in loops whose totals start at the first product, against those that start at zero."""
    counts = []
    for rows in evidence.given("rows"):
        table = np.ones((rows, evidence.given("columns")))
        charged, strict = (counted_product(np.ones(rows), table, from_zero) for from_zero in (True, False))
        counts.append((charged[2], strict[2], (charged[2] - strict[2]) / (strict[1] + strict[2])))
    evidence.figure("charged_additions", counts[0][0])
    evidence.figure("true_additions", counts[0][1])
    excess = [one[2] for one in counts]
    evidence.figure("overcount_pct", [100 * one for one in excess])
    evidence.identical(excess, sorted(excess, reverse=True), label="it falls")
    for rows, bound in evidence.given("negligible").items():
        found = excess[evidence.given("rows").index(int(rows))]
        evidence.identical(bool(found < bound), True, label=f"below the bound at {rows}")


@claim("flops.embedding-lookup-free")
def test_looking_up_is_no_arithmetic(evidence, small_token):
    """Operations counted in the lookup of a token; the row against a one-hot row times the table, and its cost."""
    from claims.experiments.counted_tokens import gpt2_small
    from implementations.inference.tally import Tally

    shape = gpt2_small()
    found = small_token(128)["lookup"]
    evidence.figure("flops", found)
    evidence.figure("table_mflop", found / 1e6)
    embedding = np.random.default_rng(0).random((shape.vocabulary, shape.width), dtype=np.float32)
    evidence.figure("rows", embedding.shape[0])
    evidence.figure("row_length", embedding.shape[1])
    tally = Tally()
    for token in evidence.given("tokens"):
        one_hot = np.zeros(shape.vocabulary, np.float32)
        one_hot[token] = 1
        evidence.identical(tally.array(one_hot) @ embedding, embedding[token], label=f"token {token}")
    evidence.figure("one_hot_mflop", tally.total / len(evidence.given("tokens")) / 1e6)
