"""A crowd of clients, a third of which leave in the middle; benchmarks/bench_serving.py has 200 of them for 30 s."""

from benchmarks.bench_serving import check, run_crowd


def test_a_crowd_loses_no_token_and_no_block():
    """Every answer is what the model says alone, every left one its beginning; SIGTERM finishes what is open."""
    check(run_crowd(clients=24, seconds=3.0))
