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
# Beyond this many values the edges of neighbouring cells are no longer different floats.
MOST_STEPS = 2**40


@dataclass(frozen=True)
class Numeric:
    """A parameter between two bounds, both included.

    Args:
        low: Smallest value.
        high: Largest value.
        log: Whether it is drawn, and its densities are fitted, on a logarithmic scale.
        step: Distance between neighbouring values; None for a continuous parameter.

    Raises:
        ValueError: a bound that is no finite number, low > high, bounds too far apart for a float, a log parameter
            whose values or cells are not positive, or a step that does not lead from low to high in at most 2**40.
    """

    low: float
    high: float
    log: bool = False
    step: float | None = None

    def __post_init__(self) -> None:
        for name in ("low", "high", "step"):
            object.__setattr__(self, name, plain(getattr(self, name)))
        if not (_is_finite(self.low) and _is_finite(self.high)):
            raise ValueError(f"bounds {self.low!r} to {self.high!r}; both must be finite numbers")
        if self.low > self.high:
            raise ValueError(f"low {self.low} above high {self.high}; swap them")
        if not math.isfinite(self.high - self.low):
            raise ValueError(f"bounds {self.low} to {self.high} are too far apart for a float; bring them closer")
        if self.log and self.low <= 0:
            raise ValueError(f"a logarithmic parameter from {self.low}; low must be above 0")
        if self.step is not None:
            self._check_step(self.step)

    def _check_step(self, step: float) -> None:
        if not (_is_finite(step) and step > 0):
            raise ValueError(f"step {step!r}; it must be a finite number above 0")
        steps = (self.high - self.low) / step
        if steps > MOST_STEPS:
            raise ValueError(f"{steps:.3g} steps of {step} from {self.low} to {self.high}; at most {MOST_STEPS} do")
        if abs(steps - round(steps)) > 1e-9 * max(1.0, steps):
            raise ValueError(f"step {step} does not lead from {self.low} to {self.high}")
        if self.log and self.low <= step / 2:
            raise ValueError(f"logarithmic from {self.low} in steps of {step}; low must be above half a step")

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
        return self._plain(min(self.low + steps * self.step, self.high))  # rounding may lead just beyond

    def contains(self, value: Any) -> bool:
        """Whether a value is one of this parameter's."""
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            return False
        if not self.low <= value <= self.high:
            return False
        return self.step is None or abs(float(self.value(float(self.coordinate(value)))) - value) < 1e-9

    def spread(self, n: int) -> list[Any]:
        """`n` values at even distances of the coordinate, ends included; fewer where a step merges them.

        Raises:
            ValueError: fewer than one value.
        """
        _check_count(n)
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
        if self.step is None:
            raise ValueError("a whole parameter has a step; leave it at 1")
        for what, given in (("bound", self.low), ("bound", self.high), ("step", self.step)):
            number = plain(given)
            if not (_is_finite(number) and number == int(number) and abs(number) <= 2**53):
                raise ValueError(f"{what} {number!r} of a whole parameter; give whole numbers from -2**53 to 2**53")
        super().__post_init__()

    def _plain(self, value: float) -> int:
        return round(value)


@dataclass(frozen=True)
class Categorical:
    """A parameter with a list of choices and no order.

    Raises:
        ValueError: no choice, one that occurs twice, NaN among them, or one text in place of a list of them.
    """

    choices: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", _listed("choices", self.choices))
        if not self.choices:
            raise ValueError("a categorical parameter without choices; give at least one")
        if any(isinstance(choice, float) and math.isnan(choice) for choice in self.choices):
            raise ValueError(f"choices {self.choices}: NaN equals nothing; use None or a text")
        if any(choice in self.choices[:i] for i, choice in enumerate(self.choices)):
            raise ValueError(f"choices {self.choices}: one occurs twice")

    @property
    def support(self) -> tuple[float, float]:
        """Range of the coordinate, each category a cell of width 1 around its index."""
        return -0.5, len(self.choices) - 0.5

    def coordinate(self, value: Any) -> float:
        """The index of a choice.

        Raises:
            ValueError: it is none of the choices.
        """
        if value not in self.choices:
            raise ValueError(f"{value!r} is none of the choices {self.choices}")
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
        """The first `n` choices.

        Raises:
            ValueError: fewer than one.
        """
        _check_count(n)
        return list(self.choices[:n])


Parameter = Float | Int | Categorical


@dataclass(frozen=True)
class When:
    """A condition: the parameter exists only where `parent` has one of `values`.

    Raises:
        ValueError: no value, or one text in place of a list of them.
    """

    parent: str
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _listed("values", self.values))
        if not self.values:
            raise ValueError(f"a condition on {self.parent!r} without values is never met; give at least one")

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
        ValueError: no parameter, a name that is no text, something that is no parameter, or a condition on a parameter
            that does not stand before the child or on a value that it never has.
    """

    parameters: Mapping[str, Parameter]
    conditions: Mapping[str, When] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.parameters:
            raise ValueError("an empty space; give at least one parameter")
        for name, parameter in self.parameters.items():
            if not isinstance(name, str) or not isinstance(parameter, Numeric | Categorical):
                raise ValueError(f"{name!r}: {parameter!r}; give parameters such as Float(0, 1), by name")
        names = list(self.parameters)
        for child, condition in self.conditions.items():
            if child not in names:
                raise ValueError(f"condition on {child!r}, which is not in the space")
            if condition.parent not in names[: names.index(child)]:
                raise ValueError(f"{child!r} depends on {condition.parent!r}, which must stand before it")
            for value in condition.values:
                if not self.parameters[condition.parent].contains(value):
                    raise ValueError(f"{child!r} depends on {condition.parent} = {value!r}, which it never is")

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
        if odd := sorted(wanted ^ set(config), key=str):
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
        """The configuration at (or nearest to) a point, shape (d,).

        Raises:
            ValueError: another number of coordinates than of parameters, or NaN among them.
        """
        if len(point) != len(self.parameters) or any(math.isnan(x) for x in point):
            raise ValueError(f"point {list(point)}; give {len(self.parameters)} numbers")
        return {name: one.value(float(x)) for (name, one), x in zip(self.parameters.items(), point)}

    def describe(self) -> dict[str, Any]:
        """The space as JSON can hold it; two spaces are the same where their descriptions are."""
        described = {name: {"type": type(one).__name__.lower(), **asdict(one)} for name, one in self.parameters.items()}
        conditions = {name: asdict(condition) for name, condition in self.conditions.items()}
        return {"parameters": described, "conditions": conditions}


def plain(value: Any) -> Any:
    """A NumPy scalar as the number or text it holds, which JSON can keep; all else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def _is_finite(value: Any) -> bool:
    if not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no float holds
        return False


def _listed(what: str, values: Any) -> tuple[Any, ...]:
    if isinstance(values, str | bytes):
        raise ValueError(f"{what} {values!r} is one text; give a tuple, as ({values!r},)")
    return tuple(map(plain, values))


def _check_count(n: int) -> None:
    if n < 1:
        raise ValueError(f"{n} values of a parameter; ask for at least 1")
