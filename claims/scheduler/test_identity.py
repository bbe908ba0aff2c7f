"""The hash by which workers are told apart: what moves it and what does not."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runtwice import claim

_IN_A_PROCESS = """
import json, sys
from implementations.scheduling.identity import Parameter, identity
print(identity([Parameter.from_record(one) for one in json.load(sys.stdin)]))
"""


@claim("scheduler.id-from-hash")
def test_the_identity_is_a_hash_of_the_set_of_options(evidence):
    """Any order, two processes with other hash seeds, a changed entry; what names alone and names with values miss."""
    from implementations.scheduling.identity import identity

    sets = _random_sets(evidence.given("sets"), np.random.default_rng(evidence.given("seed")))

    @given(st.sampled_from(sets).flatmap(lambda one: st.tuples(st.just(one), st.permutations(one))))
    def order_does_not_matter(case):
        options, shuffled = case
        assert identity(shuffled) == identity(options)
        assert identity([*options[1:]]) != identity(options)

    evidence.figure("identities_over_processes", len({*_identities_elsewhere(sets[0]), identity(sets[0])}))
    evidence.figure("collisions", len(sets) - len({identity(one) for one in sets}))
    evidence.figure("missed_by_names_and_values", len(_missed(sets[0], names_only=False)))
    evidence.figure("missed_by_names", ", ".join(_missed(sets[0], names_only=True)))
    evidence.every(order_does_not_matter)


def _random_sets(number, rng):
    """Distinct sets of options, each with two entries more than nothing."""
    from implementations.scheduling.identity import Parameter

    found = {}
    while len(found) < number:
        names = sorted(f"option_{i}" for i in rng.choice(30, rng.integers(2, 14), replace=False))
        options = tuple(
            Parameter(name, "int", int(rng.integers(5)), tuple(range(rng.integers(1, 4)))) for name in names
        )
        found[options] = None
    return list(found)


def _identities_elsewhere(options):
    """The identity in two processes whose built-in hashes differ."""
    import json

    text = json.dumps([vars(one) for one in options])
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        command = [sys.executable, "-c", _IN_A_PROCESS]
        done = subprocess.run(command, input=text, capture_output=True, text=True, env=environment, check=True)
        yield done.stdout.strip()


def _missed(options, *, names_only):
    """Changes of the first option that leave the identity as it was."""
    from implementations.scheduling.identity import identity

    first, *others = options
    changes = {
        "name": replace(first, name="another"),
        "type": replace(first, kind="float"),
        "default": replace(first, default=99),
        "choices": replace(first, choices=(97, 98, 99)),
    }
    before = identity(options, names_only=names_only)
    return [what for what, one in changes.items() if identity([one, *others], names_only=names_only) == before]


@claim("scheduler.same-space-same-id")
def test_equal_workers_are_one_worker_to_the_hash(evidence, tmp_path, contents):
    """Two processes on one script, of which one dies: entries and complaints, keyed by the hash and by instance."""
    from claims.experiments.training_scripts import Desk
    from implementations.scheduling.status_light import StatusLight

    interval_s = evidence.given("interval_s")

    def watched(carried):
        desk = Desk(tmp_path)
        first, second = desk.worker(carried), desk.worker(carried)
        second.instance = replace(second.instance, pid=first.instance.pid + 1)
        light = StatusLight(interval_s)
        for beat in range(evidence.given("beats")):
            light.see(first.beat())
            if beat == 0:
                light.see(second.beat())
            desk.now_s += interval_s
        return first.beat().identity == second.beat().identity, light.entries, "late" in light.complaints(desk.now_s)

    evidence.identical(watched(contents.read_once), (True, 1, False), label="keyed by the hash")
    evidence.identical(watched(contents.full), (True, 2, True), label="keyed by instance")


@claim("scheduler.changed-space-new-worker")
def test_a_new_option_shows_as_a_new_worker(evidence, incident):
    """Workers of a real cluster before and after an option came and one was restarted, named by hash and by host."""
    old, new = incident.before["old"], incident.restarted
    hosts = {incident.before["repaired"].instance.host, new.instance.host}
    evidence.procedure(wrong=len(hosts), right=len({old.identity, new.identity}), correct=2)


@claim("scheduler.hash-did-not-protect")
def test_the_hash_of_a_copy_does_not_move(evidence, pulled, contents):
    """Identities along the beats of a worker under which an option is added: of the copy, and read anew each time."""

    def identities(carried):
        before, after, _ = pulled(carried)
        return len({one.identity for one in [*before, *after]})

    evidence.procedure(wrong=identities(contents.read_once), right=identities(contents.fresh), correct=2)


@claim("scheduler.hash-blind-to-code")
def test_other_code_under_the_same_options(evidence, tmp_path, contents):
    """The body of the script changes: is a restarted worker another one, by its options, and by options and code?"""
    from claims.experiments.training_scripts import Desk
    from implementations.scheduling.identity import identity

    desk = Desk(tmp_path)
    old = desk.worker(contents.full).beat()
    desk.now_s += evidence.given("beats") * evidence.given("interval_s")
    desk.pull(version=2)
    new = desk.worker(contents.full).beat()
    with_code = {identity(one.parameters, code=one.code.loaded) for one in (old, new)}
    evidence.procedure(wrong=len({old.identity, new.identity}), right=len(with_code), correct=2)
