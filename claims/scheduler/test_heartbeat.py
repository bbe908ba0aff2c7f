"""What a heartbeat says after the code has changed under the worker, and what a green light is worth."""

from runtwice import claim


@claim("scheduler.params-read-once")
def test_the_list_of_the_start_is_repeated(evidence, pulled, contents, incident):
    """Whether a beat after the change lists the new option: the copy, hundreds of beats on, and read anew; on Dask."""

    def lists_it(carried):
        return any("amp" in one.options for one in pulled(carried)[1])

    evidence.procedure(wrong=lists_it(contents.read_once), right=lists_it(contents.fresh), correct=True)
    evidence.procedure(
        wrong=any("amp" in _names(beat) for beat in incident.after["old"]),
        right="amp" in _names(incident.restarted),
        correct=True,
        label="real workers",
    )


def _names(beat):
    return [one.name for one in beat.parameters]


@claim("scheduler.heartbeat-fresh-but-stale")
def test_age_says_nothing_of_content(evidence, pulled, contents):
    """Red or green at each beat after the change, by age and by the digests; how old the code is by then."""
    _, after, _ = pulled(contents.full, hours=evidence.given("hours"))
    by_age, by_digest = [one.late for one in after], [one.stale for one in after]
    evidence.figure("first_red_beat", 1 + by_digest.index(True))
    evidence.figure("behind_hours", after[0].behind_h)
    evidence.procedure(wrong=any(by_age), right=all(by_digest), correct=True)


@claim("scheduler.restart-fixes")
def test_a_restarted_worker_has_the_new_option(evidence, incident):
    """Real workers: a run with the new option before and after the restart; a queued job, left and renewed."""
    evidence.procedure(
        wrong=incident.refused[0],
        right=0 if "result" in incident.results["tower"] else 1,
        correct=0,
        label="run with the new option",
    )
    evidence.procedure(
        wrong=not incident.orphan_waits,
        right="result" in incident.results["requeued"],
        correct=True,
        label="job queued before",
    )


@claim("scheduler.status-is-a-claim")
def test_what_each_light_can_see(evidence, tmp_path):
    """Seven ways to be useless, against heartbeats that carry one thing more each; alone, and beside the right code."""
    from claims.experiments.failure_modes import detected, levels

    found = {}
    for name, carried in levels().items():
        found[name] = detected(tmp_path / name, carried, checkout=False)
        found[f"{name}_and_checkout"] = detected(tmp_path / f"{name}-checkout", carried, checkout=True)
    for name in evidence.claim.figures:
        evidence.figure(name, ", ".join(found[name]))
