"""What two runs were made with: machine, processor features, measuring settings and packages, and what differs.

The machine is its hardware. What NumPy makes of the processor may differ on one machine, and then the processor, not a
package, is behind what changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runtwice.environment import THREAD_VARIABLES
from runtwice.ledger import Ledger

# Of no consequence for a result, or this package itself, whose code is in the fingerprints' neighbourhood.
UNREMARKABLE = frozenset({"pip", "setuptools", "wheel", "runtwice"})
# Settings of the processor, not of a measurement.
_PROCESSOR_VARIABLES = ("NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE")

Pair = tuple[Any, Any]


@dataclass(frozen=True)
class Circumstances:
    """What differs around two runs, each as the pair of before and after.

    Attributes:
        machines: Both machines in words.
        same_machine: True where the hardware is the same.
        packages: Versions of the distributions (and of `python`) that differ; None on the side that lacks one.
        settings: Thread settings, hash seed and seeds that differ.
        features_off: Processor features NumPy dispatched to before, and not after.
        features_on: The other way round.
        kernels: BLAS kernels, where they differ.
        ceilings: What each machine can do, by name: cores, memory, bandwidth, products of matrices.
    """

    machines: tuple[str, str]
    same_machine: bool
    packages: Mapping[str, Pair] = field(default_factory=dict)
    settings: Mapping[str, Pair] = field(default_factory=dict)
    features_off: tuple[str, ...] = ()
    features_on: tuple[str, ...] = ()
    kernels: Pair | None = None
    ceilings: Mapping[str, Pair] = field(default_factory=dict)

    @property
    def same_processor(self) -> bool:
        """True where NumPy and BLAS made the same of the processor."""
        return not (self.features_off or self.features_on or self.kernels)


def between(old: Ledger, new: Ledger) -> Circumstances:
    """What differs around two ledgers' runs."""
    before, after = old.block["environment"], new.block["environment"]
    same = _hardware(old) == _hardware(new)
    off, on = _features(before, after, same_machine=same)
    return Circumstances(
        machines=(describe(old), describe(new)),
        same_machine=same,
        packages=_packages(before, after),
        settings=_settings(old, new),
        features_off=off,
        features_on=on,
        kernels=_kernels(before, after),
        ceilings=_ceilings(old, new),
    )


def describe(ledger: Ledger) -> str:
    """A machine in words."""
    environment, cpu = ledger.block["environment"], ledger.cpu
    memory = environment.get("memory_bytes")
    size = f", {memory / 2**30:.0f} GiB" if isinstance(memory, int | float) else ""
    return f"{cpu.get('brand_raw') or 'unknown processor'} ({cpu.get('count') or '?'} cores{size})"


def withheld(ledger: Ledger) -> str:
    """What environment variables kept from a run of its processor, as `without AVX2 and more`; "" where nothing."""
    variables = ledger.block["environment"].get("variables") or {}
    features, kernel = (str(variables.get(name) or "") for name in _PROCESSOR_VARIABLES)
    first, *more = features.replace(",", " ").split() or [""]
    off = f"without {first}{' and more' if more else ''}" if first else ""
    return ", ".join(filter(None, [off, f"BLAS kernel {kernel}" if kernel else ""]))


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, Pair]:
    """Distributions whose versions differ, or that only one side has."""
    names = sorted((set(before) | set(after)) - UNREMARKABLE)
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


def spelled(name: str, pair: Pair) -> str:
    """`numpy 1.26.4 → 2.4.6`, or `+ numpy 2.4.6` and `- numpy 1.26.4` where one side has none."""
    before, after = pair
    if before is None:
        return f"+ {name} {after}"
    return f"- {name} {before}" if after is None else f"{name} {before} → {after}"


def _hardware(ledger: Ledger) -> tuple[Any, ...]:
    """What makes a machine the same one; names of hosts and clock rates change while it stays what it is."""
    cpu, machine = ledger.cpu, ledger.document.get("machine_info") or {}
    memory = ledger.block["environment"].get("memory_bytes") or 0
    flags = tuple(cpu.get("flags") or ())
    return (machine.get("system"), machine.get("machine"), cpu.get("brand_raw"), cpu.get("count"), flags, memory >> 30)


def _packages(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Pair]:
    sides = [
        {**(side.get("distributions") or {}), **({"python": side["python"]} if side.get("python") else {})}
        for side in (before, after)
    ]
    return changed(*sides)


def _settings(old: Ledger, new: Ledger) -> dict[str, Pair]:
    sides = []
    for ledger in (old, new):
        variables = ledger.block["environment"].get("variables") or {}
        side = {name: variables.get(name) for name in (*THREAD_VARIABLES, "PYTHONHASHSEED")}
        sides.append({**side, "first seed": ledger.block.get("first_seed", 0)})
    before, after = sides
    return {name: (before[name], after[name]) for name in before if before[name] != after[name]}


def _features(
    before: Mapping[str, Any], after: Mapping[str, Any], *, same_machine: bool
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Features only one side has; nothing where another NumPy merely gives those of one machine other names."""
    numpy_versions = {(side.get("distributions") or {}).get("numpy") for side in (before, after)}
    switched = any(_variable(before, name) != _variable(after, name) for name in _PROCESSOR_VARIABLES)
    if same_machine and not switched and len(numpy_versions) > 1:
        return (), ()
    had, has = (set(side.get("cpu_features") or ()) for side in (before, after))
    return tuple(sorted(had - has)), tuple(sorted(has - had))


def _variable(environment: Mapping[str, Any], name: str) -> Any:
    return (environment.get("variables") or {}).get(name)


def _kernels(before: Mapping[str, Any], after: Mapping[str, Any]) -> Pair | None:
    pair = tuple(
        ", ".join(
            sorted({str(pool.get("architecture")) for pool in side.get("blas") or () if pool.get("architecture")})
        )
        for side in (before, after)
    )
    return (pair[0], pair[1]) if pair[0] != pair[1] else None


def _ceilings(old: Ledger, new: Ledger) -> dict[str, Pair]:
    """What each machine can do, as far as the ledgers have it."""
    sides = []
    for ledger in (old, new):
        environment, measured = ledger.block["environment"], (ledger.block.get("controls") or {}).get("ceilings") or {}
        memory = environment.get("memory_bytes")
        sides.append(
            {
                "cores": environment.get("cores"),
                "memory (GiB)": memory and round(memory / 2**30, 1),
                "copy (GB/s)": _scaled(measured.get("copy_bytes_per_s")),
                "float64 products (GFLOP/s)": _scaled(measured.get("float64_flops_per_s")),
                "float32 products (GFLOP/s)": _scaled(measured.get("float32_flops_per_s")),
            }
        )
    before, after = sides
    return {name: (before[name], after[name]) for name in before if before[name] or after[name]}


def _scaled(value: Any) -> float | None:
    return round(value / 1e9, 2) if isinstance(value, int | float) else None
