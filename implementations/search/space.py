"""A search space: parameters with their ranges, and conditions under which a parameter exists.

Follows: Bergstra, Bardenet, Bengio, Kégl, "Algorithms for Hyper-Parameter Optimization" (2011), where a configuration
is drawn by walking a tree: a parameter whose condition is not met has no value at all.

Every parameter has a *coordinate*: the value itself, its logarithm, or the index of a category. Values of a stepped
parameter own a cell of half a step to either side; the cells tile the coordinate's support.

Leaves out: conditions on more than one parent, and constraints between parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Config = dict[str, Any]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Numeric:
    """A parameter between two bounds, both included.

    Args:
        low: Smallest value.
        high: Largest value.
        log: Whether it is drawn, and its densities are fitted, on a logarithmic scale.
        step: Distance between neighbouring values; None for a continuous parameter.

    Raises:
        ValueError: a bound is not finite, low > high, a log parameter that is not positive, or a step that does not
            lead from low to high.
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            raise ValueError(f"bounds {self.low} to {self.high}; both must be finite")
        if self.low > self.high:
            raise ValueError(f"low {self.low} above high {self.high}; swap them")
        if self.log and self.low <= 0:
            raise ValueError(f"a logarithmic parameter from {self.low}; low must be above 0")
        if self.step is None:
            return
        if self.step <= 0:
            raise ValueError(f"step {self.step}; it must be above 0")
        steps = (self.high - self.low) / self.step
        if abs(steps - round(steps)) > 1e-9 * max(1.0, steps):
            raise ValueError(f"step {self.step} does not lead from {self.low} to {self.high}")

    @property
    def support(self) -> tuple[float, float]:
        """Range of the coordinate, half a step wider at either end for a stepped parameter."""
        half = (self.step or 0.0) / 2
        return float(self.coordinate(self.low - half)), float(self.coordinate(self.high + half))

    def coordinate(self, value: ArrayLike) -> Floats:
        """Coordinates of values; any shape."""
        return np.log(value) if self.log else np.asarray(value, dtype=float)

    def value(self, coordinate: float) -> Any:
        """The value at a coordinate: the nearest one for a stepped parameter."""
        return self._plain(float(self.values(np.array([coordinate]))[0]))

    def values(self, coordinates: Floats) -> Floats:
        """Values at coordinates, as floats; same shape."""
        values = np.exp(coordinates) if self.log else coordinates
        if self.step is not None:
            values = self.low + np.round((values - self.low) / self.step) * self.step
        return np.clip(values, self.low, self.high)

    def cells(self, values: Floats) -> tuple[Floats, Floats]:
        """Coordinates of the two edges of the cell of each value; same shapes."""
        half = (self.step or 0.0) / 2
        return self.coordinate(values - half), self.coordinate(values + half)

    def draw(self, rng: np.random.Generator) -> Any:
        """One value from the prior: uniform over the values, or over the coordinate where it is logarithmic."""
        if self.step is None or self.log:
            return self.value(rng.uniform(*self.support))
        steps = int(rng.integers(0, round((self.high - self.low) / self.step) + 1))
        return self._plain(self.low + steps * self.step)

    def contains(self, value: Any) -> bool:
        """Whether a value is one of this parameter's."""
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            return False
        if not self.low <= value <= self.high:
            return False
        return self.step is None or abs(float(self.value(float(self.coordinate(value)))) - value) < 1e-9

    def spread(self, n: int) -> list[Any]:
        """`n` values at even distances of the coordinate, ends included; fewer where a step merges them."""
        low, high = (float(self.coordinate(bound)) for bound in (self.low, self.high))
        return list(dict.fromkeys(self.value(coordinate) for coordinate in np.linspace(low, high, n)))

    def _plain(self, value: float) -> Any:
        return float(value)


@dataclass(frozen=True)
class Float(Numeric):
    """A real parameter."""


@dataclass(frozen=True)
class Int(Numeric):
    """A whole parameter; its step is 1 unless another is given."""

    low: int
    high: int
    step: int | None = 1

    def __post_init__(self) -> None:
        if any(not float(bound).is_integer() for bound in (self.low, self.high)):
            raise ValueError(f"whole bounds {self.low} to {self.high}; both must be whole numbers")
        if self.step is None:
            raise ValueError("a whole parameter has a step; leave it at 1")
        super().__post_init__()

    def _plain(self, value: float) -> int:
        return round(value)


@dataclass(frozen=True)
class Categorical:
    """A parameter with a list of choices and no order.

    Raises:
        ValueError: no choice, or one that occurs twice.
    """

    choices: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", tuple(self.choices))
        if not self.choices:
            raise ValueError("a categorical parameter without choices; give at least one")
        if any(choice in self.choices[:i] for i, choice in enumerate(self.choices)):
            raise ValueError(f"choices {self.choices}: one occurs twice")

    @property
    def support(self) -> tuple[float, float]:
        """Range of the coordinate, each category a cell of width 1 around its index."""
        return -0.5, len(self.choices) - 0.5

    def coordinate(self, value: Any) -> float:
        """The index of a choice."""
        return float(self.choices.index(value))

    def value(self, coordinate: float) -> Any:
        """The choice at a coordinate."""
        return self.choices[int(np.clip(np.round(coordinate), 0, len(self.choices) - 1))]

    def draw(self, rng: np.random.Generator) -> Any:
        """One choice, all as likely."""
        return self.choices[int(rng.integers(0, len(self.choices)))]

    def contains(self, value: Any) -> bool:
        """Whether a value is one of the choices."""
        return value in self.choices

    def spread(self, n: int) -> list[Any]:
        """The first `n` choices."""
        return list(self.choices[:n])


Parameter = Float | Int | Categorical


@dataclass(frozen=True)
class When:
    """A condition: the parameter exists only where `parent` has one of `values`."""

    parent: str
    values: tuple[Any, ...]

    def met(self, config: Mapping[str, Any]) -> bool:
        """Whether a configuration meets it; never where the parent itself is absent."""
        return self.parent in config and config[self.parent] in self.values


@dataclass(frozen=True)
class Space:
    """Parameters by name, and conditions by the name of the parameter that depends on them.

    Args:
        parameters: In the order they are drawn; a parent stands before its children.
        conditions: For the parameters that do not always exist.

    Raises:
        ValueError: no parameter, or a condition on a parameter that does not stand before the child.
    """

    parameters: Mapping[str, Parameter]
    conditions: Mapping[str, When] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.parameters:
            raise ValueError("an empty space; give at least one parameter")
        names = list(self.parameters)
        for child, condition in self.conditions.items():
            if child not in names:
                raise ValueError(f"condition on {child!r}, which is not in the space")
            if condition.parent not in names[: names.index(child)]:
                raise ValueError(f"{child!r} depends on {condition.parent!r}, which must stand before it")

    def active(self, name: str, config: Mapping[str, Any]) -> bool:
        """Whether a parameter exists beside the values that `config` already has."""
        condition = self.conditions.get(name)
        return condition is None or condition.met(config)

    def draw(self, rng: np.random.Generator) -> Config:
        """One configuration from the prior."""
        return self.walk(lambda name: self.parameters[name].draw(rng))

    def walk(self, choose: Callable[[str], Any]) -> Config:
        """A configuration whose existing parameters get the values that `choose` gives them, in order."""
        config: Config = {}
        for name in self.parameters:
            if self.active(name, config):
                config[name] = choose(name)
        return config

    def check(self, config: Mapping[str, Any]) -> None:
        """Refuse a configuration that this space cannot produce.

        Raises:
            ValueError: a value outside its range, or a parameter too many or missing.
        """
        for name, value in config.items():
            if name in self.parameters and not self.parameters[name].contains(value):
                raise ValueError(f"{name} = {value!r} lies outside {self.parameters[name]}")
        wanted = {name for name in self.parameters if self.active(name, config)}
        if odd := sorted(wanted ^ set(config)):
            fault = "missing" if odd[0] in wanted else "extra"
            raise ValueError(f"configuration {dict(config)}: {odd[0]!r} is {fault}")

    @property
    def box(self) -> tuple[Floats, Floats]:
        """Lower and upper ends of the coordinates of a space without conditions, shapes (d,).

        Raises:
            ValueError: the space has conditions; a box has no place for a parameter that does not exist.
        """
        if self.conditions:
            raise ValueError(f"a space with conditions ({', '.join(self.conditions)}) is no box")
        low, high = zip(*(parameter.support for parameter in self.parameters.values()))
        return np.array(low), np.array(high)

    def point(self, config: Mapping[str, Any]) -> Floats:
        """Coordinates of a configuration, shape (d,)."""
        return np.array([float(one.coordinate(config[name])) for name, one in self.parameters.items()])

    def config(self, point: Sequence[float] | Floats) -> Config:
        """The configuration at (or nearest to) a point, shape (d,)."""
        return {name: one.value(float(x)) for (name, one), x in zip(self.parameters.items(), point)}

    def describe(self) -> dict[str, Any]:
        """The space as JSON can hold it; two spaces are the same where their descriptions are."""
        described = {name: {"type": type(one).__name__.lower(), **asdict(one)} for name, one in self.parameters.items()}
        conditions = {name: asdict(condition) for name, condition in self.conditions.items()}
        return {"parameters": described, "conditions": conditions}
