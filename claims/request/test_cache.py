"""What is read once and never again: prefill, decode and the cache between them, on a small model."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runtwice import claim


def largest_difference(one, other):
    """Between two arrays, in absolute value."""
    return float(np.abs(np.asarray(one, dtype=float) - np.asarray(other, dtype=float)).max())


@claim("request.prefill-fills-cache")
def test_one_pass_fills_the_cache(evidence, decoder, new_cache, prompt):
    """Entries up to the prompt's length, none of them zero, none beyond; and a score for each token there is."""
    length, cache = int(evidence.given("prompt_tokens")), new_cache()
    scores = decoder.extend(prompt(length), cache)
    evidence.figure("scores", scores.size)
    evidence.identical(cache.length_tokens, length, label="length")
    for name, store in (("keys", cache.keys), ("values", cache.values)):
        filled = np.abs(store).max(axis=(0, 1, 3)) > 0  # (layers, heads, room, c) -> (room,)
        evidence.identical(filled.tolist(), [place < length for place in range(len(filled))], label=name)


@claim("request.prefill-order-free-of-length")
def test_any_prompt_is_one_pass(evidence, decoder, new_cache, conveyed, counted):
    """Passes until the first token of the answer, for a short and a long prompt."""
    sizes = {"tokens_short": 6, "tokens_long": 600}
    for name, length in sizes.items():
        cache = new_cache(length + 1)
        read = counted(lambda tokens, cache=cache: decoder.extend(tokens, cache))
        first = next(event for event in conveyed(read, "x" * length, 1) if event.name == "token")
        evidence.figure(name, read.sizes[0])
        evidence.identical((len(read.sizes), first.name), (1, "token"), label=name)


@claim("request.prefill-equals-stepwise")
def test_a_prompt_may_come_in_any_pieces(evidence, decoder, new_cache, prompt):
    """Random cuts, down to single tokens, against the whole at once: scores, keys and values."""
    length, largest = int(evidence.given("prompt_tokens")), evidence.given("largest_difference")
    tokens, whole = prompt(length), new_cache()
    scores = decoder.extend(tokens, whole)

    @given(st.sets(st.integers(1, length - 1)))
    def check(cuts):
        cache, bounds = new_cache(), [0, *sorted(cuts), length]
        for low, high in itertools.pairwise(bounds):
            last = decoder.extend(tokens[low:high], cache)
        assert largest_difference(last, scores) <= largest
        assert largest_difference(cache.keys, whole.keys) <= largest
        assert largest_difference(cache.values, whole.values) <= largest

    evidence.every(check)


@claim("request.causal-mask")
def test_later_tokens_change_nothing_before_them(evidence, decoder, new_cache, plain_decoder, prompt):
    """The last tokens changed, in prompts fed in pieces: what is stored of those before, with and without a mask."""
    length, changed = int(evidence.given("prompt_tokens")), int(evidence.given("changed"))
    largest = evidence.given("largest_difference")
    one, other = prompt(length), prompt(length, seed=1)
    other = one[:-changed] + other[-changed:]
    kept = length - changed

    def moved(masked, size):
        """The largest change in what is stored of the tokens that stayed."""
        stores = []
        for tokens in (one, other):
            cache, plain = new_cache(), plain_decoder(masked=False)
            for low in range(0, length, size):
                piece = tokens[low : low + size]
                decoder.extend(piece, cache) if masked else plain(piece)
            stores.append((cache if masked else plain).keys[:, :, :kept])
        return largest_difference(*stores)

    unmasked = moved(masked=False, size=length)
    for size in map(int, evidence.given("pieces")):
        right = moved(masked=True, size=size)
        evidence.procedure(
            wrong=unmasked, right=right, correct=lambda found: found <= largest, label=f"pieces of {size}"
        )


@claim("request.decode-one-token")
def test_the_answer_is_one_token_a_pass(evidence, decoder, new_cache, conveyed, counted, prompt):
    """Sizes of the passes of a request; and a token changed in the middle: earlier scores stay, later ones move."""
    answer = int(evidence.given("answer_tokens"))
    cache = new_cache()
    read = counted(lambda tokens: decoder.extend(tokens, cache))
    list(conveyed(read, "x" * int(evidence.given("prompt_tokens")), answer))
    evidence.identical(read.sizes[1:], [1] * (answer - 1), label="passes after the first")
    tokens, place = prompt(answer), int(evidence.given("changed"))
    other = [*tokens[:place], (tokens[place] + 1) % 256, *tokens[place + 1 :]]
    scores = [decoder.extend(one, new_cache(), every=True) for one in (tokens, other)]
    moves = [largest_difference(*rows) >= evidence.given("least_difference") for rows in zip(*scores)]
    evidence.identical(moves, [row >= place for row in range(answer)], label="scores that move")


@claim("request.cache-one-line-per-token")
def test_a_token_is_one_entry(evidence, decoder, new_cache, conveyed):
    """The length of the cache at each token of an answer, which was chosen before it was itself read."""
    cache, answer = new_cache(), int(evidence.given("answer_tokens"))
    events = conveyed(lambda tokens: decoder.extend(tokens, cache), "x" * int(evidence.given("prompt_tokens")), answer)
    lengths = [cache.length_tokens for event in events if event.name == "token"]
    evidence.identical(np.diff(lengths).tolist(), [1] * (answer - 1))


@claim("request.wasted-last-forward")
def test_the_posts_loop_computes_one_pass_too_many(evidence, decoder, new_cache, conveyed, counted):
    """Passes of a request of 64 tokens by the post's loop and by one that stops, against what 64 tokens need."""
    answer, length = 64, int(evidence.given("prompt_tokens"))

    def passes(wasteful):
        cache = new_cache()
        read = counted(lambda tokens: decoder.extend(tokens, cache))
        events = list(conveyed(read, "x" * length, answer, wasteful=wasteful))
        return len(read.sizes), events

    wrong, _ = passes(wasteful=True)
    right, events = passes(wasteful=False)
    tokens = sum(event.name == "token" for event in events)
    evidence.figure("answer_tokens", tokens)
    evidence.figure("gaps", tokens - 1)
    evidence.procedure(wrong=wrong, right=right, correct=1 + answer - 1)


@claim("request.kv-cache-equivalence")
def test_the_cache_changes_no_token(evidence, decoder, new_cache, prompt):
    """Greedy answers with the cache, and with everything read again for each token."""
    answer = int(evidence.given("answer_tokens"))
    for seed in evidence.given("seeds"):
        tokens = prompt(evidence.given("prompt_tokens"), seed=int(seed))
        with_cache = list(decoder.generate(tokens, answer))
        again, scores = [], []
        for _ in range(answer):
            scores.append(decoder.extend(tokens + again, new_cache()))
            again.append(int(scores[-1].argmax()))
        cache = new_cache()
        kept = [decoder.extend(fed, cache) for fed in [tokens, *([token] for token in again[:-1])]]
        evidence.identical(with_cache, again, label=f"tokens of seed {seed}")
        evidence.identical(np.concatenate(kept), np.concatenate(scores), label="scores")


@claim("request.event-order")
def test_events_come_in_order(evidence, decoder, new_cache, conveyed):
    """Names and times of the events of answers of several lengths, none included."""
    for answer in map(int, evidence.given("answers")):
        cache = new_cache()
        events = list(conveyed(lambda tokens, cache=cache: decoder.extend(tokens, cache), "why?", answer))
        names = ["tokenized", "prefilled", *["token"] * answer]
        evidence.identical([event.name for event in events], names, label=f"{answer} tokens")
        stamps = [event.time_s for event in events]
        evidence.identical(stamps == sorted(stamps), True, label=f"times of {answer} tokens")


@claim("request.stream-immediate")
def test_a_token_comes_before_the_next_is_computed(evidence, decoder, new_cache, conveyed, counted):
    """Passes made when each token is in hand, taken one by one and after collecting all."""
    answer = int(evidence.given("answer_tokens"))

    def passes(collect):
        cache = new_cache()
        read = counted(lambda tokens: decoder.extend(tokens, cache))
        events = collect(conveyed(read, "why?", answer))
        return [len(read.sizes) for event in events if event.name == "token"]

    evidence.procedure(wrong=passes(list), right=passes(iter), correct=[1 + place for place in range(answer)])


@claim("request.capacity-limits")
def test_what_does_not_fit_is_refused_by_its_limit(evidence, decoder, new_cache, plain_decoder):
    """A prompt beyond the room, an answer that runs over it, and no prompt: what the error says of the limit."""
    from claims.experiments.request_times import shape

    room = 8

    def complaint(call):
        try:
            call()
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return "nothing"

    def running_over(read):
        read([0] * room)
        read([0])

    cases = {
        "a prompt too long": (lambda read: read([0] * (room + 1)), f"room for {room}"),
        "an answer too long": (running_over, f"room for {room}"),
        "no prompt": (lambda read: read([]), "at least one"),
    }
    evidence.figure("max_seq", shape().positions)
    for label, (call, limit) in cases.items():
        cache, plain = new_cache(room), plain_decoder(room)
        wrong = complaint(lambda call=call, plain=plain: call(plain))
        right = complaint(lambda call=call, cache=cache: call(lambda tokens: decoder.extend(tokens, cache)))
        evidence.procedure(wrong=wrong, right=right, correct=lambda found, limit=limit: limit in found, label=label)
