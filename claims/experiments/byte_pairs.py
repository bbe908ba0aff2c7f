"""Texts of made-up words whose frequencies follow Zipf's law, and byte-pair tokenizers trained on them."""

from __future__ import annotations

import random
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

COMMON = ("the", "is", "why", "sky", "blue", "a", "of", "and", "to", "in", "that", "it")
VOCABULARY, WORDS, TEXTS, WORDS_PER_TEXT = 1500, 3000, 400, 200
LETTERS = "etaoinshrdlucmfwypvbgkjqxz"


@lru_cache
def lexicon(seed: int) -> tuple[str, ...]:
    """Words by falling frequency: a dozen real ones, then made-up ones, which are longer the rarer they are."""
    rng = random.Random(seed)
    words = dict.fromkeys(COMMON)
    while len(words) < WORDS:
        length = rng.randint(2, 4) + len(words) * 6 // WORDS
        words["".join(rng.choices(LETTERS, weights=range(len(LETTERS), 0, -1), k=length))] = None
    return tuple(words)


def written(seed: int, characters: int) -> str:
    """A text of at least so many characters, cut there."""
    rng = random.Random(seed)
    texts, length = [], 0
    while length < characters:
        texts.append(_text(rng, seed))
        length += len(texts[-1]) + 1
    return " ".join(texts)[:characters]


def _text(rng: random.Random, seed: int) -> str:
    words = rng.choices(lexicon(seed), cum_weights=_zipf(), k=WORDS_PER_TEXT)
    # Sentences on lines of their own, so that words are also seen with a capital and no space before them.
    sentences = [words[low : low + 4] for low in range(0, len(words), 4)]
    return "\n".join(" ".join([one[0].capitalize(), *one[1:]]) + rng.choice(".?!") for one in sentences)


@lru_cache
def _zipf() -> tuple[float, ...]:
    return tuple(accumulate(1 / rank for rank in range(1, WORDS + 1)))


@lru_cache
def trained(seed: int) -> Any:
    """A byte-level tokenizer trained on such texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    rng = random.Random(seed)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY, show_progress=False, initial_alphabet=alphabet)
    tokenizer.train_from_iterator((_text(rng, seed) for _ in range(TEXTS)), trainer)
    return tokenizer


def pieces(text: str, seed: int = 0) -> list[str]:
    """The tokens of a text, as the stretches of it that they stand for."""
    encoding = trained(seed).encode(text)
    return [text[low:high] for low, high in encoding.offsets]


def pieces_by_rank(seed: int, edges: tuple[int, ...]) -> list[float]:
    """Mean tokens a word, for words of each stretch of ranks, and last for words that no text held."""
    tokenizer, words = trained(seed), lexicon(seed)

    def mean(some: tuple[str, ...]) -> float:
        return sum(len(tokenizer.encode(f" {word}").ids) for word in some) / len(some)

    unseen = tuple(word for word in lexicon(seed + 1000)[-400:] if word not in words)
    return [*(mean(words[low:high]) for low, high in pairwise(edges)), mean(unseen)]
