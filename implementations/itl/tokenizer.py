"""Byte-pair encoding of the prompts, on the engine's own thread or in a worker process.

Follows: Sennrich et al. (2016), byte-level, through the ``tokenizers`` library; trained in-process on texts
like those of the trace. The worker is always *spawned*: forking a process with BLAS or tokenizer threads is
unsafe, and Python 3.14 no longer does it by default. It receives the trained vocabulary, so it does not train
again.
Leaves out: detokenization; nothing here reads what the model says.
"""

import multiprocessing
import random
import time
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from implementations.itl.trace import Arrival, write_text

if TYPE_CHECKING:
    from tokenizers import Tokenizer

VOCABULARY = 4096
CORPUS_TEXTS, CORPUS_CHARS = 3000, 400


@lru_cache(maxsize=1)
def trained_tokenizer() -> "Tokenizer":
    """The tokenizer, trained once a process (about a third of a second)."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    rng = random.Random(0)
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),  # every byte has a token, so nothing is unknown
    )
    texts = (write_text(rng, CORPUS_CHARS) for _ in range(CORPUS_TEXTS))
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def encode(text: str) -> list[int]:
    """Token ids of a text, below ``VOCABULARY``."""
    ids: list[int] = trained_tokenizer().encode(text).ids
    return ids


class Intake(Protocol):
    """Turns arrivals into token ids.

    ``on_loop`` says whether ``submit`` does the work itself, on the thread of the engine.
    """

    on_loop: bool

    def submit(self, arrival: Arrival) -> None:
        """Take an arrival in."""

    def completed(self) -> list[tuple[Arrival, list[int]]]:
        """What has been tokenized since the last call, in order of arrival."""

    @property
    def pending(self) -> bool:
        """Whether an arrival is in work."""

    def wait(self, timeout_s: float | None) -> None:
        """Let time pass until an arrival in work is done, or the timeout."""

    def close(self) -> None:
        """End what ``submit`` started."""


class InlineIntake:
    """Tokenizes on the calling thread, which is the one that drives the steps."""

    on_loop = True

    def __init__(self) -> None:
        trained_tokenizer()
        self._done: list[tuple[Arrival, list[int]]] = []

    def submit(self, arrival: Arrival) -> None:
        """Tokenize now."""
        self._done.append((arrival, encode(_text_of(arrival))))

    def completed(self) -> list[tuple[Arrival, list[int]]]:
        """All that was submitted."""
        done, self._done = self._done, []
        return done

    @property
    def pending(self) -> bool:
        """Never: ``submit`` finishes the work."""
        return False

    def wait(self, timeout_s: float | None) -> None:
        """There is nothing to wait for."""
        time.sleep(timeout_s or 0.0)

    def close(self) -> None:
        """Nothing to end."""


class WorkerIntake:
    """Tokenizes in one worker process, started and warm before the first submission.

    Attributes:
        worker_cpu_s: processor seconds the worker has spent on finished texts.
    """

    on_loop = False

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        vocabulary = trained_tokenizer().to_str()
        self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=_load, initargs=(vocabulary,))
        self._queue: list[tuple[Arrival, Future[tuple[list[int], float]]]] = []
        self.worker_cpu_s = 0.0
        self._pool.submit(_encode_in_worker, "warm").result()

    def submit(self, arrival: Arrival) -> None:
        """Send the text to the worker."""
        self._queue.append((arrival, self._pool.submit(_encode_in_worker, _text_of(arrival))))

    def completed(self) -> list[tuple[Arrival, list[int]]]:
        """Finished texts; one worker finishes them in order."""
        done = []
        while self._queue and self._queue[0][1].done():
            arrival, future = self._queue.pop(0)
            ids, cpu_s = future.result()
            self.worker_cpu_s += cpu_s
            done.append((arrival, ids))
        return done

    @property
    def pending(self) -> bool:
        """Whether the worker still owes a text."""
        return bool(self._queue)

    def wait(self, timeout_s: float | None) -> None:
        """Sleep until the worker finishes a text."""
        wait([future for _, future in self._queue], timeout_s, FIRST_COMPLETED)

    def close(self) -> None:
        """Stop the worker and wait for its end."""
        self._pool.shutdown(cancel_futures=True)


_loaded: "Tokenizer | None" = None


def _load(vocabulary: str) -> None:
    global _loaded
    from tokenizers import Tokenizer

    _loaded = Tokenizer.from_str(vocabulary)


def _encode_in_worker(text: str) -> tuple[list[int], float]:
    if _loaded is None:
        raise RuntimeError("the worker was started without its vocabulary")
    before_s = time.process_time()
    ids: list[int] = _loaded.encode(text).ids
    return ids, time.process_time() - before_s


def _text_of(arrival: Arrival) -> str:
    if arrival.text is None:
        raise ValueError(f"request {arrival.request} has no text: its trace was made with texts=False")
    return arrival.text
