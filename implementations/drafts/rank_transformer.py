"""A small transformer over the ten heroes of a draft, which may be told the bracket.

Follows: Vaswani et al. 2017, pre-norm. A token is a hero; half of the heads look at the own side, half at the other;
the reading is signed, so that without layers the network is a bag of heroes, and swapping the sides flips the log odds
but for a bias. The rank scales and shifts each hero's embedding, and starts at no effect.
Leaves out: positions (a draft's order is unknown), dropout, more than one game mode.

With and without rank the networks start from the same weights, and draw their matches in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from implementations.drafts.cosine_schedule import cosine_rate
from implementations.drafts.world import TEAM, Drafts, Floats, Whole


@dataclass(frozen=True)
class Shape:
    """Sizes of a network.

    Args:
        heroes: Number of heroes.
        brackets: Number of brackets; 0 for a network that is not told the rank.
        width: Of a hero's embedding.
        layers: Number of layers.
        heads: Number of heads, half of them for either side.

    Raises:
        ValueError: an odd number of heads, a width they do not divide, or another size that is too small.
    """

    heroes: int
    brackets: int = 0
    width: int = 16
    layers: int = 1
    heads: int = 2

    def __post_init__(self) -> None:
        for name, least in (("heroes", 1), ("brackets", 0), ("width", 1), ("layers", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} {getattr(self, name)}; it must be at least {least}")
        if self.heads < 2 or self.heads % 2 or self.width % self.heads:
            raise ValueError(f"{self.heads} heads on a width of {self.width}; an even number that divides it")


class Attention(nn.Module):
    """Each hero looks at its own side with half of the heads, and at the other side with the rest."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.project = nn.Linear(width, 3 * width, bias=False)
        self.combine = nn.Linear(width, width, bias=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Mix tokens, (n, 2, 5, width) -> the same."""
        n, sides, team, width = tokens.shape
        parts = self.project(tokens).view(n, sides, team, 3, self.heads, width // self.heads)
        queries, keys, values = parts.permute(3, 4, 0, 1, 2, 5)  # (3, heads, n, 2, 5, d) each
        half = self.heads // 2
        # A side looks at the other where keys and values trade sides.
        keys, values = (torch.cat([one[:half], one[half:].flip(2)]) for one in (keys, values))
        scores = queries @ keys.transpose(-1, -2) * (width // self.heads) ** -0.5  # (heads, n, 2, 5, 5)
        seen = scores.softmax(dim=-1) @ values  # (heads, n, 2, 5, d)
        return self.combine(seen.permute(1, 2, 3, 0, 4).reshape(n, sides, team, width))  # type: ignore[no-any-return]


class Layer(nn.Module):
    """Attention, then a step for each token alone; both are added to what came in."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.before_step = nn.LayerNorm(width)
        self.step = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, tokens: Tensor) -> Tensor:
        """One layer, (n, 2, 5, width) -> the same."""
        tokens = tokens + self.attention(self.before_attention(tokens))
        return tokens + self.step(self.before_step(tokens))  # type: ignore[no-any-return]


class RankTransformer(nn.Module):
    """Log odds of the first side from ten heroes and, if it has brackets, the bracket.

    A hero may be unknown: its number is then `shape.heroes`, which has an embedding of its own.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.heroes = nn.Embedding(shape.heroes + 1, shape.width)
        nn.init.normal_(self.heroes.weight, std=0.3)
        self.layers = nn.ModuleList(Layer(shape.width, shape.heads) for _ in range(shape.layers))
        self.reading = nn.Linear(shape.width, 1, bias=False)
        self.bias = nn.Parameter(torch.zeros(1))
        if shape.brackets:  # zeros: drawn last and without a random number, so that all else stays the same
            self.rank = nn.Parameter(torch.zeros(2, shape.brackets, shape.width))

    def forward(self, heroes: Tensor, bracket: Tensor) -> Tensor:
        """Log odds, heroes (n, 10) and brackets (n,) -> (n,)."""
        tokens = self.heroes(heroes)  # (n, 10, width)
        if self.shape.brackets:
            scale, shift = self.rank[:, bracket][:, :, None]  # (n, 1, width) each
            tokens = tokens * (1 + scale) + shift
        tokens = tokens.view(len(heroes), 2, TEAM, self.shape.width)
        for layer in self.layers:
            tokens = layer(tokens)
        strength = self.reading(tokens).squeeze(-1).sum(dim=2)  # (n, 2)
        return strength[:, 0] - strength[:, 1] + self.bias  # type: ignore[no-any-return]


def new_network(shape: Shape, seed: int) -> RankTransformer:
    """A network with weights drawn from `seed`, the global generator left as it was."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return RankTransformer(shape)


@dataclass(frozen=True)
class Training:
    """How a network is trained.

    Args:
        epochs: Passes over the matches.
        batch: Matches a step.
        rate: Of AdamW, at its highest.
        decay: Weight decay.
        annealed: Whether the rate falls to zero along a cosine over exactly these epochs, or stays.
        hide: Whether a random number of heroes is made unknown in each match.
        looks: Times the network is looked at, evenly spaced; by default once an epoch.

    Raises:
        ValueError: fewer than one epoch, match or look, or a rate or decay that is negative or not finite.
    """

    epochs: int = 1
    batch: int = 1024
    rate: float = 0.01
    decay: float = 0.01
    annealed: bool = True
    hide: bool = False
    looks: int | None = None

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "looks"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise ValueError(f"{name} {getattr(self, name)}; it must be at least 1")
        for name in ("rate", "decay"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} {getattr(self, name)}; it must be a finite number of at least 0")


Look = Callable[[RankTransformer], float]
# One step: heroes, brackets and results of a batch.
Step = Callable[[tuple[Tensor, Tensor], Tensor], object]


def train_network(
    network: RankTransformer,
    drafts: Drafts,
    how: Training,
    *,
    seed: int,
    look: Look | None = None,
    step: Step | None = None,
    optimiser: torch.optim.Optimizer | None = None,
) -> list[float]:
    """Train a network in place.

    Args:
        network: Its weights.
        drafts: Matches to learn from.
        how: Epochs, batches, rate.
        seed: Of the order of the matches and of what is hidden.
        look: Called at `how.looks` evenly spaced moments, the last at the end.
        step: Takes a step in place of the ordinary one; needs `optimiser`.
        optimiser: Whose rate is set before each step; AdamW where None.

    Returns:
        What each look gave.

    Raises:
        ValueError: fewer matches than a batch, heroes or brackets that the network does not know, or a `step` without
            its optimiser.
    """
    if len(drafts) < how.batch:
        raise ValueError(f"{len(drafts)} matches for batches of {how.batch}; give at least one batch")
    if step is not None and optimiser is None:
        raise ValueError("a step without its optimiser; pass both, so that the rate can be set")
    _check_known(network.shape, drafts.heroes, drafts.bracket)
    optimiser = optimiser or torch.optim.AdamW(network.parameters(), lr=how.rate, weight_decay=how.decay)
    step = step or _plain_step(network, optimiser)
    rng = np.random.default_rng(seed)
    won = torch.from_numpy(drafts.won.astype(np.float32))
    bracket = torch.from_numpy(drafts.bracket)
    per_epoch = len(drafts) // how.batch
    total = how.epochs * per_epoch
    moments = {round(total * (i + 1) / (how.looks or how.epochs)) for i in range(how.looks or how.epochs)}
    seen: list[float] = []
    for epoch in range(how.epochs):
        order = rng.permutation(len(drafts))
        heroes = torch.from_numpy(hidden(drafts.heroes, network.shape.heroes, rng) if how.hide else drafts.heroes)
        for i in range(per_epoch):
            done = epoch * per_epoch + i
            for group in optimiser.param_groups:
                group["lr"] = cosine_rate(done, total, how.rate) if how.annealed else how.rate
            rows = torch.from_numpy(order[i * how.batch : (i + 1) * how.batch])
            step((heroes[rows], bracket[rows]), won[rows])
            if look and done + 1 in moments:
                seen.append(look(network))
    return seen


def _plain_step(network: RankTransformer, optimiser: torch.optim.Optimizer) -> Step:
    def step(inputs: tuple[Tensor, Tensor], won: Tensor) -> None:
        optimiser.zero_grad(set_to_none=True)
        torch.autograd.backward(nn.functional.binary_cross_entropy_with_logits(network(*inputs), won))
        optimiser.step()

    return step


def hidden(heroes: Whole, unknown: int, rng: np.random.Generator, known: int | None = None) -> Whole:
    """Drafts of which only some heroes are known, the others replaced.

    Args:
        heroes: Shape (n, 10).
        unknown: The number that stands for an unknown hero.
        rng: Chooses which.
        known: How many stay; a random number from 1 to 10, match by match, where None.

    Raises:
        ValueError: more than there are, or fewer than none.
    """
    n, picks = heroes.shape
    if known is not None and not 0 <= known <= picks:
        raise ValueError(f"{known} heroes known; it must be from 0 to {picks}")
    stay = rng.integers(1, picks + 1, size=(n, 1)) if known is None else known
    place = rng.permuted(np.broadcast_to(np.arange(picks), (n, picks)), axis=1)
    return np.where(place < stay, heroes, unknown)


def network_log_odds(network: RankTransformer, heroes: Whole, bracket: Whole, batch: int = 8192) -> Floats:
    """What a network says of matches, heroes (n, 10) and brackets (n,) -> (n,).

    Raises:
        ValueError: heroes or brackets that it does not know, or batches of none.
    """
    if batch < 1:
        raise ValueError(f"batches of {batch}; they must hold at least 1 match")
    _check_known(network.shape, heroes, bracket)
    if not len(heroes):
        return np.empty(0)
    # PyTorch takes neither negative strides nor, without a warning, what may not be written to.
    heroes, bracket = (np.require(one, requirements=["C", "W"]) for one in (heroes, bracket))
    with torch.no_grad():
        parts = [
            network(torch.from_numpy(heroes[i : i + batch]), torch.from_numpy(bracket[i : i + batch]))
            for i in range(0, len(heroes), batch)
        ]
    return torch.cat(parts).double().numpy()  # type: ignore[no-any-return]


def _check_known(shape: Shape, heroes: Whole, bracket: Whole) -> None:
    if heroes.ndim != 2 or heroes.shape[1] != 2 * TEAM or bracket.shape != heroes.shape[:1]:
        raise ValueError(f"heroes {heroes.shape} and brackets {bracket.shape}; give (n, {2 * TEAM}) and (n,)")
    if not len(heroes):
        return
    if not 0 <= heroes.min() <= heroes.max() <= shape.heroes:
        raise ValueError(
            f"heroes from {heroes.min()} to {heroes.max()}; the network knows 0 to {shape.heroes}, the unknown"
        )
    if shape.brackets and not 0 <= bracket.min() <= bracket.max() < shape.brackets:
        raise ValueError(f"brackets from {bracket.min()} to {bracket.max()}; the network knows {shape.brackets}")
