"""What the scheduler promises about blocks, budgets, victims and returns, read off the log of real engine runs."""

from runtwice import claim


@claim("itl.decode-first-budget")
def test_prefill_gets_what_decodes_leave(evidence, bursts):
    """In each step of six bursts: prefill within the rest of the budget, and no admission past an unfinished prompt."""
    from implementations.itl.config import EngineConfig

    evidence.figure("budget", EngineConfig().token_budget)
    for log in bursts(evidence.given("seeds")):
        left = [max(0, log.config.token_budget - n) for n in log.step["n_decode"]]
        over = sum(tokens > rest for tokens, rest in zip(log.step["prefill_tokens"], left))
        evidence.identical(over, 0, label="steps over the budget")
        evidence.identical(
            _overtaken_prompts(log), 0, label="waiting prompts that began before a running one had its share"
        )
        evidence.identical(log.step["prefill_tokens"].sum() > 0, True, label="prefill happened")


def _overtaken_prompts(log):
    """Steps that gave a chunk to a request admitted in that step although an older prompt was left unfinished."""
    admitted = {(event.step, event.request) for event in log.admissions}
    length = {row.request: row.prompt_tokens for row in log.requests}
    by_step = {}
    for chunk in log.chunks:
        by_step.setdefault(chunk.step, []).append(chunk)
    faults = 0
    for step, chunks in by_step.items():
        begun = [(step, chunk.request) in admitted for chunk in chunks]
        unfinished = [chunk.start + chunk.n_tokens < length[chunk.request] for chunk in chunks]
        faults += any(begun[i + 1] and unfinished[i] for i in range(len(chunks) - 1))
        faults += sorted(begun) != begun
    return faults


@claim("itl.kv-pool-conserved")
def test_blocks_add_up_after_every_step(evidence):
    """Blocks recounted from the requests' own lists after each step of six bursts, against the pool's free count."""
    from claims.experiments import engine_runs
    from implementations.itl.config import BLOCK_TOKENS, EngineConfig
    from implementations.itl.scheduler import Scheduler

    evidence.figure("blocks", EngineConfig().kv_blocks)
    evidence.figure("block_tokens", BLOCK_TOKENS)
    for seed in range(1, 1 + evidence.given("seeds")):
        config = engine_runs.burst_config()
        scheduler = Scheduler(config)
        sums = []

        def recount(_step, scheduler=scheduler, sums=sums):
            held = [block for request in scheduler.running for block in request.blocks]
            sums.append((len(held) + scheduler.pool.n_free, len(held) - len(set(held))))

        engine_runs.run(config, engine_runs.burst_trace(seed), scheduler=scheduler, before_step=recount)
        evidence.identical(set(sums), {(config.kv_blocks, 0)}, label="free + held, blocks held twice")
        evidence.identical(scheduler.pool.n_free, config.kv_blocks, label="free in the end")


@claim("itl.preempt-when-pool-empty")
def test_victims_fall_only_where_the_pool_is_empty(evidence, bursts):
    """Free blocks just before each eviction of six bursts, and what the requester has after it."""
    for log in bursts(evidence.given("seeds")):
        evidence.identical({event.free_blocks for event in log.preemptions}, {0}, label="free blocks before")
        lost = {(event.step, event.victim) for event in log.preemptions}
        served = {(step, request) for request, _, step in log.emissions}
        asked = {(event.step, event.requester) for event in log.preemptions}
        evidence.identical(asked - lost - served, set(), label="requesters neither served nor evicted")


@claim("itl.victim-is-newest")
def test_the_victim_was_admitted_last(evidence, bursts):
    """Each victim of six bursts against the order of (re)admission, replayed from the log."""
    for log in bursts(evidence.given("seeds")):
        evidence.identical(_victims_not_newest(log), 0, label="victims that were not the newest")
        evidence.identical(len(log.preemptions) > 0, True, label="somebody was evicted")


def _victims_not_newest(log):
    finished = {row.request: row.finished_s for row in log.requests}
    entered = sorted(
        [(event.step, order, event.request) for order, event in enumerate((*log.readmissions, *log.admissions))],
        key=lambda entry: (entry[0], entry[1]),
    )
    ends = log.step["end_s"]
    running, faults = [], 0
    for step in range(len(ends)):
        for event in (event for event in log.preemptions if event.step == step):
            faults += running[-1] != event.victim
            running.remove(event.victim)
        running += [request for at, _, request in entered if at == step]
        running = [request for request in running if finished[request] is None or finished[request] > ends[step]]
    return faults


@claim("itl.evicted-emits-nothing")
def test_no_token_while_evicted(evidence, bursts):
    """Emissions strictly inside an eviction of the same request, over six bursts."""
    for log in bursts(evidence.given("seeds")):
        evidence.identical(_emissions_while_evicted(log), 0, label="tokens while evicted")
        evidence.identical(len(log.evictions) > 0, True, label="somebody was evicted")


def _emissions_while_evicted(log):
    return sum(
        request == other and evicted < time_s < (float("inf") if readmitted is None else readmitted)
        for request, evicted, readmitted in log.evictions
        for other, time_s, _ in log.emissions
    )


@claim("itl.eviction-stamps")
def test_stamps_enclose_the_copies(evidence):
    """Clock readings around each copy of six bursts, taken by the model, against the stamps of the log."""
    for seed in range(1, 1 + evidence.given("seeds")):
        log, copied_out, copied_in = _run_with_timed_copies(seed)
        evictions = sorted(log.evictions, key=lambda eviction: eviction[1])
        readmitted = sorted(back for _, _, back in evictions)
        evidence.identical(len(copied_out), len(evictions), label="copies out")
        late = sum(stamp > began for (_, stamp, _), (began, _) in zip(evictions, copied_out))
        early = sum(stamp < ended for stamp, (_, ended) in zip(readmitted, copied_in))
        evidence.identical((late, early), (0, 0), label="eviction after its copy began, return before its copy ended")
        evidence.identical(_stamps_outside_swap(log), 0, label="stamps outside a swap segment")


def _run_with_timed_copies(seed):
    from claims.experiments import engine_runs
    from implementations.itl.clock import RealClock
    from implementations.itl.decoder import Decoder

    clock, config = RealClock(), engine_runs.burst_config()
    out, back = [], []

    class TimedCopies(Decoder):
        def copy_out(self, table, tokens):
            began = clock.now()
            saved = super().copy_out(table, tokens)
            out.append((began, clock.now()))
            return saved

        def copy_in(self, table, saved):
            began = clock.now()
            super().copy_in(table, saved)
            back.append((began, clock.now()))

    log = engine_runs.run(
        config, engine_runs.burst_trace(seed), model=TimedCopies(kv_blocks=config.kv_blocks), clock=clock
    )
    return log, out, back


def _stamps_outside_swap(log):
    swaps = [(start, end) for _, kind, start, end, _ in log.segments if kind == "swap"]
    stamps = [stamp for _, *pair in log.evictions for stamp in pair if stamp is not None]
    return sum(not any(start <= stamp <= end for start, end in swaps) for stamp in stamps)


@claim("itl.swap-preserves-state")
def test_tokens_do_not_depend_on_the_pool(evidence, bursts):
    """Token ids of each request in six bursts with evictions, against the same bursts in a roomy pool."""
    from claims.experiments import engine_runs

    for seed, log in enumerate(bursts(evidence.given("seeds")), start=1):
        roomy = engine_runs.burst_run(seed, kv_blocks=int(evidence.given("roomy_blocks")))
        evidence.identical(len(log.evictions) > 0 and not roomy.evictions, True, label="only the tight pool evicts")
        evidence.identical(log.tokens, roomy.tokens, label="token ids")


@claim("itl.requests-emit-exactly-max-new")
def test_everybody_gets_what_they_asked_for(evidence, bursts):
    """Number of tokens of each request of six bursts, against its trace."""
    from claims.experiments import engine_runs

    for seed, log in enumerate(bursts(evidence.given("seeds")), start=1):
        asked = {arrival.request: arrival.max_new for arrival in engine_runs.burst_trace(seed)}
        evidence.identical({request: len(tokens) for request, tokens in log.tokens.items()}, asked)


@claim("itl.first-token-needs-extra-step")
def test_the_extra_step_feeds_the_last_prompt_token_twice(evidence):
    """First tokens of a burst by the post's rule and by the prompt's own logits, against a full recomputation."""
    from claims.experiments import engine_runs

    seed = evidence.given("seed")
    roomy = {"kv_blocks": 1000, "token_budget": 2048}
    extra = engine_runs.burst_run(seed, first_token_from="extra step", **roomy)
    direct = engine_runs.burst_run(seed, **roomy)
    expected = engine_runs.greedy_first_tokens(seed)
    first = [{request: tokens[0] for request, tokens in log.tokens.items()} for log in (extra, direct)]
    evidence.procedure(wrong=first[0], right=first[1], correct=expected, label="first tokens")
    delays = [engine_runs.steps_from_prompt_to_first_token(log) for log in (extra, direct)]
    evidence.procedure(wrong=delays[0], right=delays[1], correct={0}, label="steps from prompt to first token")


@claim("itl.idle-guard-never-fires")
def test_idle_steps_are_logged_by_the_posts_rule(evidence):
    """Steps without work in the log of a slow trickle, logging empty segments as the post does, and without them."""
    from claims.experiments import engine_runs

    seed = evidence.given("seed")
    empty = [engine_runs.empty_segments(seed, log_empty_segments=logged) for logged in (True, False)]
    evidence.procedure(wrong=empty[0], right=empty[1], correct=0)


@claim("itl.midprefill-restart")
def test_half_read_prompts_start_again(evidence, bursts):
    """Restarted victims of six bursts: nothing emitted, no eviction on record, the prompt computed again from 0."""
    restarts = 0
    for log in bursts(evidence.given("seeds")):
        first_emission = {row.request: row.first_token_s for row in log.requests}
        for event in (event for event in log.preemptions if event.restarted):
            restarts += 1
            at = log.step["start_s"][event.step]
            own = [
                stamp
                for request, stamp, _ in log.evictions
                if request == event.victim and stamp < first_emission[request]
            ]
            evidence.identical(len(own), 0, label="evictions on record before the first token")
            evidence.identical(first_emission[event.victim] > at, True, label="nothing emitted before")
            later = [chunk.start for chunk in log.chunks if chunk.request == event.victim and chunk.step >= event.step]
            evidence.identical(later[0], 0, label="first chunk afterwards")
    evidence.identical(restarts > 0, True, label="there were restarts")


@claim("itl.preempted-counter-is-not-evictions")
def test_the_counter_exceeds_the_intervals_by_the_restarts(evidence, bursts):
    """The step counter of preemptions, less the recorded intervals, against the restarts, in each of six bursts."""
    logs = bursts(evidence.given("seeds"))
    for log in logs:
        counter, restarts = int(log.step["preempted"].sum()), int(log.step["restarted"].sum())
        evidence.identical(counter - len(log.evictions), restarts, label="counter - intervals")
    more = any(log.step["preempted"].sum() > len(log.evictions) for log in logs)
    evidence.identical(more, True, label="the counter exceeds the intervals in some run")


@claim("itl.readmission-rule")
def test_returns_follow_the_order_of_eviction(evidence, bursts):
    """Order, free blocks and precedence of every return in six bursts."""
    from claims.experiments import engine_runs
    from implementations.itl.config import EngineConfig

    evidence.figure("headroom_blocks", EngineConfig().readmit_headroom_blocks)
    for log in bursts(evidence.given("seeds")):
        evicted = [request for request, _, _ in log.evictions]
        returned = [event.request for event in log.readmissions]
        evidence.identical(returned, evicted, label="order of return")
        headroom = log.config.readmit_headroom_blocks
        busy = [event for event in log.readmissions if log.step["running"][event.step - 1] > 1]
        short = sum(event.free_blocks < event.granted_blocks + headroom for event in busy)
        evidence.identical(short, 0, label="returns without headroom")
        overtaken = engine_runs.admissions_past_an_eviction_that_fits(log)
        evidence.identical(overtaken, 0, label="new requests admitted although the first evicted one fitted")


@claim("itl.no-unexplained-skip")
def test_every_skipped_step_has_an_eviction(evidence, bursts):
    """Gaps of six bursts that pass over a step, not explained by an eviction of that request."""
    from implementations.itl.partition import partition

    unexplained = [int((partition(log.event_log()).skipped_steps > 0).sum()) for log in bursts(evidence.given("seeds"))]
    evidence.figure("violations", sum(unexplained))


@claim("itl.inferring-from-skips")
def test_skips_show_evictions_only_under_one_scheduler(evidence):
    """Gaps that skip a step, against gaps with an eviction on record, when half of the batch decodes in each step."""
    from claims.experiments import engine_runs

    seed = evidence.given("seed")
    skipping, evicted = engine_runs.skips_and_evictions(seed, round_robin=True)
    evidence.procedure(wrong=skipping, right=evicted, correct=0, label="half of the batch a step, roomy pool")
    plain_skips, plain_evicted = engine_runs.skips_and_evictions(seed, round_robin=False)
    evidence.procedure(wrong=-1, right=plain_skips, correct=plain_evicted, label="the whole batch a step, tight pool")


@claim("itl.watermark-rule")
def test_a_tenth_stays_free_after_the_prompt(evidence):
    """Free blocks after each admission to a busy engine, in six bursts with the watermark."""
    from claims.experiments import engine_runs
    from implementations.itl.ladder import FIXES

    share = FIXES["admission-watermark"]["admission_watermark"]
    evidence.figure("fraction_pct", 100 * share)
    for seed in range(1, 1 + evidence.given("seeds")):
        log = engine_runs.burst_run(seed, admission_watermark=share)
        busy = [event for event in log.admissions if event.step and log.step["running"][event.step - 1] > 1]
        left = [event.free_blocks - event.granted_blocks for event in busy]
        evidence.identical(min(left) >= share * log.config.kv_blocks, True, label="a tenth is left")
        evidence.identical(len(busy) > 3, True, label="some were admitted to a busy engine")


@claim("itl.offloop-zero-tok-segments")
def test_no_tokenizer_segment_on_the_loop(evidence):
    """Tokenizer segments of a burst with the worker, and of the same burst without it."""
    from claims.experiments import engine_runs

    seed = evidence.given("seed")
    for off_loop, expected in ((True, False), (False, True)):
        log = engine_runs.burst_run(seed, tokenize_off_loop=off_loop)
        kinds = {kind for _, kind, *_ in log.segments}
        evidence.identical("tok" in kinds, expected, label=f"tokenizer segments, off the loop: {off_loop}")


@claim("itl.raw-log-recompute")
def test_the_log_on_disk_gives_the_same_partition(evidence, bursts, tmp_path):
    """Partition of a burst from memory, from its .npz and from its JSON lines: bit for bit the same."""
    from implementations.itl.events import EventLog
    from implementations.itl.partition import partition

    log = bursts(6)[evidence.given("seed")].event_log()
    direct = partition(log)
    for ending in ("npz", "jsonl"):
        path = tmp_path / f"run.{ending}"
        log.save(path)
        again = partition(EventLog.load(path))
        for label, part in direct.parts.items():
            evidence.identical(again.parts[label], part, label=f"{ending} {label}")
