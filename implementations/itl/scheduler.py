"""Which requests run in a step, and who has to leave: decisions only, without a model and without time.

Follows: continuous batching (Yu et al., Orca, 2022) with chunked prefill behind the decodes (Agrawal et al.,
Sarathi-Serve, 2024), a paged KV pool and preemption of the newest (Kwon et al., PagedAttention, 2023).
Leaves out: priorities, prefix sharing, aborts, and ends of sequence.

Every accepted request finishes, whatever the size of the pool: a request that could not finish in an empty
pool is refused when it arrives; a whole prompt's blocks are reserved at admission, so prefill never waits for
memory; the oldest running request is never evicted while it needs a block, so it always advances; headroom
and watermark are waived when nothing runs; and evicted requests can be overtaken only a bounded number of
times.
"""

from collections import deque
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from implementations.itl.config import BLOCK_TOKENS, EngineConfig, blocks_for
from implementations.itl.kv_blocks import BlockPool


class Refused(Enum):
    """Why a request was turned away at arrival."""

    EMPTY_PROMPT = "the prompt has no tokens"
    NO_OUTPUT = "no token is asked for"
    NEVER_FITS = "prompt and output need more blocks than the pool has"


@dataclass(slots=True, eq=False)
class Request:
    """One request in the engine.

    Args:
        number: its number in the trace.
        arrival_s: when it arrived, in seconds since the engine opened.
        max_new: tokens it will emit.
        tokens: prompt token ids, to which the engine appends what is emitted.
    """

    number: int
    arrival_s: float
    max_new: int
    tokens: list[int]
    prompt_tokens: int = field(init=False)
    computed: int = 0  # tokens whose keys and values are in the cache (or were, when it was evicted)
    target: int = field(init=False)  # tokens that prefill has to compute before the request decodes
    emitted: int = 0
    capacity: int = 0  # tokens that its blocks hold
    blocks: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.prompt_tokens = self.target = len(self.tokens)

    @property
    def decoding(self) -> bool:
        """Whether prefill is over."""
        return self.computed >= self.target

    @property
    def slots_next(self) -> int:
        """Tokens its blocks must hold for the next step: the whole prefill, or one more than now."""
        return max(self.computed + 1, self.target)


class Preemption(NamedTuple):
    """A request that lost its blocks, with what it held then."""

    victim: Request
    requester: Request
    restarted: bool  # still in prefill with nothing emitted: back to the head of the queue, no eviction
    computed: int
    blocks: list[int]
    free_blocks: int  # in the pool, just before


class Chunk(NamedTuple):
    """A stretch of one prompt to compute."""

    request: Request
    start: int
    n_tokens: int


class Admission(NamedTuple):
    """A request given blocks, and how many were free just before."""

    request: Request
    free_blocks: int


@dataclass(slots=True)
class StepPlan:
    """What one step does, in the order in which it has to be carried out."""

    preemptions: list[Preemption] = field(default_factory=list)
    readmissions: list[Admission] = field(default_factory=list)
    admissions: list[Admission] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)
    decodes: list[Request] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.decodes or self.chunks or self.preemptions or self.readmissions)


class Scheduler:
    """Three queues and three verbs: ``submit`` a request, ``schedule`` a step, ``complete`` it.

    Args:
        config: limits of the step and of the pool.
    """

    def __init__(self, config: EngineConfig) -> None:
        self.config = config
        self.pool = BlockPool(config.kv_blocks)
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []  # by time of (re)admission, the newest last
        self.evicted: deque[Request] = deque()
        self._overtakes = 0
        self._reserve_blocks = config.admission_watermark * config.kv_blocks

    @property
    def idle(self) -> bool:
        """Whether no request is in the engine."""
        return not (self.running or self.waiting or self.evicted)

    def submit(self, request: Request) -> Refused | None:
        """Queue a request, or say why it can never be served."""
        refusal = self._refusal(request)
        if refusal is None:
            self.waiting.append(request)
        return refusal

    def schedule(self) -> StepPlan:
        """Decide one step; blocks are assigned as if it were carried out."""
        plan = StepPlan()
        self._reserve_decode_slots(plan)
        if not plan.preemptions:  # a step that had to evict takes nobody in
            self._readmit(plan)
        plan.decodes = self.choose_decodes([request for request in self.running if request.decoding])
        budget = self._continue_prefills(plan, self.config.token_budget - len(plan.decodes))
        if not plan.preemptions:
            self._admit(plan, budget)
        return plan

    def choose_decodes(self, ready: list[Request]) -> list[Request]:
        """Which of the requests that could decode do: all of them."""
        return ready

    def complete(self, plan: StepPlan) -> list[Request]:
        """Account for a step that was carried out.

        Returns:
            The requests that emitted a token, each once; the finished ones have given their blocks back.
        """
        emitting = plan.decodes.copy()
        for request in emitting:
            request.computed += 1
        for request, _, n_tokens in plan.chunks:
            request.computed += n_tokens
            if request.decoding and self.config.first_token_from == "prefill":
                emitting.append(request)
        finished = False
        for request in emitting:
            request.emitted += 1
            finished |= request.emitted == request.max_new
        if finished:
            self._retire()
        return emitting

    def check(self) -> None:
        """Verify that no block is lost or held twice, and that only running requests hold any.

        Raises:
            ValueError: if that does not hold.
        """
        self.pool.check(request.blocks for request in self.running)
        for request in (*self.waiting, *self.evicted):
            if request.blocks:
                raise ValueError(f"request {request.number} holds {len(request.blocks)} blocks and is not running")

    def _refusal(self, request: Request) -> Refused | None:
        if request.prompt_tokens < 1:
            return Refused.EMPTY_PROMPT
        if request.max_new < 1:
            return Refused.NO_OUTPUT
        return Refused.NEVER_FITS if blocks_for(self._slots_in_the_end(request)) > self.pool.size else None

    def _slots_in_the_end(self, request: Request) -> int:
        """Tokens stored when the last one is emitted, which is itself never fed back and so never stored."""
        return request.prompt_tokens + request.max_new - (self.config.first_token_from == "prefill")

    def _blocks_wanted(self, request: Request) -> int:
        reserve_all = self.config.reserve_answer
        return blocks_for(self._slots_in_the_end(request) if reserve_all else request.slots_next)

    def _reserve_decode_slots(self, plan: StepPlan) -> None:
        """A block for each decode whose last one is full, the oldest first; the newest pay for it."""
        for request in [request for request in self.running if request.computed == request.capacity]:
            while request.blocks and not self.pool.n_free:
                self._preempt(self.running.pop(), request, plan)
            if request.blocks:
                self._grant(request)

    def _preempt(self, victim: Request, requester: Request, plan: StepPlan) -> None:
        restarted = not victim.decoding and not victim.emitted
        held = (victim.computed, victim.blocks, self.pool.n_free)
        plan.preemptions.append(Preemption(victim, requester, restarted, *held))
        self._release(victim)
        if restarted:
            victim.computed = 0
            self.waiting.appendleft(victim)
            return
        if self.config.preemption == "recompute":
            victim.computed = 0
            victim.target = victim.prompt_tokens + victim.emitted
        self.evicted.append(victim)

    def _readmit(self, plan: StepPlan) -> None:
        """Evicted requests return in the order of their eviction; the first that does not fit stops it."""
        while self.evicted and len(self.running) < self.config.max_num_seqs:
            request = self.evicted[0]
            headroom = self.config.readmit_headroom_blocks if self.running else 0
            if self._blocks_wanted(request) + headroom > self.pool.n_free:
                return
            plan.readmissions.append(Admission(self.evicted.popleft(), self.pool.n_free))
            self._overtakes = 0
            self._start(request)

    def _continue_prefills(self, plan: StepPlan, budget: int) -> int:
        for request in self.running:
            if budget > 0 and not request.decoding:
                budget -= self._chunk(request, budget, plan)
        return budget

    def _admit(self, plan: StepPlan, budget: int) -> None:
        while budget > 0 and self.waiting and self._may_admit(self.waiting[0]):
            request = self.waiting.popleft()
            self._overtakes += bool(self.evicted)
            plan.admissions.append(Admission(request, self.pool.n_free))
            self._start(request)
            budget -= self._chunk(request, budget, plan)

    def _may_admit(self, request: Request) -> bool:
        if len(self.running) >= self.config.max_num_seqs:
            return False
        if self.evicted and self._overtakes >= self.config.overtake_limit:
            return False
        reserve = self._reserve_blocks if self.running else 0
        return self.pool.n_free - self._blocks_wanted(request) >= reserve

    def _start(self, request: Request) -> None:
        self._grant(request)
        self.running.append(request)

    def _chunk(self, request: Request, budget: int, plan: StepPlan) -> int:
        n_tokens = min(budget, request.target - request.computed)
        plan.chunks.append(Chunk(request, request.computed, n_tokens))
        return n_tokens

    def _grant(self, request: Request) -> None:
        missing = self._blocks_wanted(request) - len(request.blocks)
        request.blocks += self.pool.take(missing)
        request.capacity = len(request.blocks) * BLOCK_TOKENS

    def _release(self, request: Request) -> None:
        self.pool.give_back(request.blocks)
        request.blocks = []
        request.capacity = 0

    def _retire(self) -> None:
        for request in self.running:
            if request.emitted == request.max_new:
                self._release(request)
        self.running = [request for request in self.running if request.blocks]


class RoundRobinScheduler(Scheduler):
    """A scheduler that skips running requests: it decodes half of the ready ones a step, in turn.

    It evicts nobody when it skips them, which is why a missing step does not show a preemption.
    """

    def __init__(self, config: EngineConfig) -> None:
        super().__init__(config)
        self._turn = 0

    def choose_decodes(self, ready: list[Request]) -> list[Request]:
        """Every other ready request, the two halves taking turns."""
        if len(ready) < 2:
            return ready
        self._turn ^= 1
        return ready[self._turn :: 2]
