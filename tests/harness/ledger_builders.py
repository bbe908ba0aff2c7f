"""Ledgers of made-up runs: what the machine was, what was installed, and rows of every sort."""

import itertools

import numpy as np

from runtwice import ledger, stats
from runtwice.ledger import Journal
from runtwice.sequential import sign_sequence
from tests.harness.builders import a_row

_SECONDS = itertools.count()


def a_ledger(path, *rows, packages=None, created=None, partial=False, **machine):
    """A ledger of these rows, written and read.

    Args:
        path: Where it goes.
        rows: Its rows.
        packages: Versions by name.
        created: When the run began; by default each is a second later than the one before.
        partial: Whether the run was interrupted.
        machine: `processor`, `features`, `memory_bytes`, `variables`, `blas`, `controls`, `first_seed`.
    """
    environment = {
        "python": machine.get("python", "3.11.7"),
        "cores": 2,
        "memory_bytes": machine.get("memory_bytes", 2**34),
        "cpu_features": list(machine.get("features", ("AVX2", "SSE2"))),
        "blas": [{"architecture": machine.get("blas", "SkylakeX")}],
        "variables": machine.get("variables", {"OMP_NUM_THREADS": "1"}),
        "distributions": packages or {"numpy": "2.4.6"},
    }
    info = {"system": "Linux", "cpu": {"brand_raw": machine.get("processor", "a processor"), "count": 2}}
    header = ledger.header(info, {"id": "c"}, environment, [row["id"] for row in rows], [], "0.1")
    header["claims"]["created"] = created or f"2026-01-01T00:00:{next(_SECONDS) % 60:02d}+00:00"
    if "first_seed" in machine:
        header["claims"]["first_seed"] = machine["first_seed"]
    header["claims"]["controls"] = machine.get("controls", {})
    journal = Journal(path, header)
    for row in rows:
        journal.add(row)
    return ledger.read(journal.finish(partial=partial))


def a_judged_row(claim_id="shop.cheap", verdict="holds", **fields):
    """A row with these fields in place of the default ones, and `code`, `settings`, `distributions` as fingerprint."""
    parts = {"code": "c0de", "settings": {}, "distributions": {"numpy": "2.4.6"}}
    fingerprint = {name: fields.pop(name, default) for name, default in parts.items()}
    return {**a_row(claim_id, verdict), "fingerprint": fingerprint, "nodeid": "claims/shop/test_a.py::test_a", **fields}


def a_figure(measured, printed="1.00", name="price", agreement="exact"):
    """A compared figure as a row has it."""
    return {
        "name": name,
        "printed": printed,
        "measured": measured,
        "agreement": agreement,
        "moved_by": None,
        "moved_units": None,
    }


def a_figure_row(measured, printed="1.00", **fields):
    """A row with one figure."""
    figure_fields = {name: fields.pop(name) for name in ("name", "agreement") if name in fields}
    return a_judged_row(figures=[a_figure(measured, printed, **figure_fields)], **fields)


def a_sampled_row(values, claim_id="shop.dear", verdict="holds", **fields):
    """A row over seeds, whose effect is the mean of these values."""
    found = stats.sign_flip(values)
    statistic = {"value": found.value, "low": found.low, "high": found.high, "confidence": 0.95, "n": found.n}
    samples = {"a": [float(value) for value in values]}
    return a_judged_row(claim_id, verdict, verb="above", statistic=statistic, samples=samples, **fields)


def a_ratio_row(log_ratios, claim_id="shop.fast", verdict="holds", **fields):
    """A row of a timed ratio, one log ratio a process."""
    found = sign_sequence(log_ratios, 0.99)
    statistic = {
        "value": float(np.exp(found.value)),
        "low": float(np.exp(found.low)),
        "high": float(np.exp(found.high)),
        "confidence": 0.99,
        "n": found.n,
    }
    samples = {"log ratio": [float(value) for value in log_ratios]}
    return a_judged_row(claim_id, verdict, kind="ratio", verb="ratio", statistic=statistic, samples=samples, **fields)


def sampled(mean, n=10, spread=0.01, seed=0):
    """`n` values around a mean."""
    return np.random.default_rng(seed).normal(mean, spread, n)
