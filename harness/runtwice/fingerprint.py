"""What a claim's result depends on: the code of its experiment, its settings, and the libraries that code imports.

The code is the test itself, its fixtures, and every first-party module reached from them by static imports
(anywhere in a module, also inside functions). Blank lines and comment lines do not count. Two equal fingerprints mean
that a changed verdict is not the experiment's doing.
"""

from __future__ import annotations

import ast
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from runtwice.environment import distributions

# The folders below the root whose modules are first-party code of an experiment.
FIRST_PARTY = ("implementations", "claims")


def fingerprint(
    root: Path, test: tuple[Path, str], fixtures: Iterable[tuple[Path, str]], settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Hash and parts of one experiment's fingerprint.

    Args:
        root: The project's root, below which first-party modules stand.
        test: The module and name of the test function.
        fixtures: The module and name of each fixture function it uses, directly or not.
        settings: Measuring settings.

    Returns:
        `code`: hash of the experiment's source; `settings`; `distributions`: version by name; `hash`: of all three.
    """
    own = sorted({test, *fixtures})
    sources = [_function_source(path, name) for path, name in own]
    reached = _closure(root, sorted({path for path, _ in own}))
    sources += [_significant(path.read_text(encoding="utf-8")) for path in reached]
    imported = {name for path in (*{path for path, _ in own}, *reached) for name in _imports(root, path)}
    versions = _versions(frozenset(imported))
    code = _digest("\0".join(sources))
    whole = _digest(json.dumps([code, settings, versions], sort_keys=True, default=str))
    return {"hash": whole, "code": code, "settings": dict(settings), "distributions": versions}


def code_of_module(root: Path, module: Path) -> str:
    """Hash of one module and of the first-party modules it reaches."""
    reached = [module, *_closure(root, [module])]
    return _digest("\0".join(_significant(path.read_text(encoding="utf-8")) for path in reached))


def _closure(root: Path, modules: Sequence[Path]) -> list[Path]:
    """First-party files reached from `modules` by imports, without the modules themselves."""
    seen: set[Path] = set()
    queue = list(modules)
    while queue:
        for name in _imports(root, queue.pop()):
            for path in _first_party(root, name):
                if path not in seen and path not in modules:
                    seen.add(path)
                    queue.append(path)
    return sorted(seen)


@cache
def _first_party(root: Path, name: str) -> tuple[Path, ...]:
    if name.split(".", 1)[0] not in FIRST_PARTY:
        return ()
    base = root.joinpath(*name.split("."))
    return tuple(path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file())


@cache
def _imports(root: Path, path: Path) -> frozenset[str]:
    """Dotted names imported anywhere in a file; `from a import b` gives `a` and `a.b`."""
    names: set[str] = set()
    for node in ast.walk(_tree(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(root, path, node)
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
    return frozenset(names)


def _absolute(root: Path, path: Path, node: ast.ImportFrom) -> str:
    """The dotted name of the module that `from … import` names, a relative one seen from `path`."""
    if node.level == 0 or root not in path.parents:
        return node.module or ""
    package = path.relative_to(root).parts[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _function_source(path: Path, name: str) -> str:
    """The function and the module's other statements, without the other tests and fixtures beside it."""
    text = path.read_text(encoding="utf-8")
    kept = []
    for node in _tree(path).body:
        decorated = isinstance(node, ast.FunctionDef) and node.decorator_list
        if not decorated or getattr(node, "name", "") == name:
            first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
            kept.append("\n".join(text.splitlines()[first - 1 : node.end_lineno]))
    return _significant("\n".join(kept))


def _significant(text: str) -> str:
    lines = (line.rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line and not line.lstrip().startswith("#"))


@cache
def _owners() -> Mapping[str, list[str]]:
    return metadata.packages_distributions()


@cache
def _versions(imported: frozenset[str]) -> dict[str, str]:
    """Versions of the third-party distributions that provide the imported names."""
    roots = {name.split(".", 1)[0] for name in imported} - set(sys.stdlib_module_names)
    owners = {canonicalize_name(owner) for root in roots for owner in _owners().get(root, [])}
    installed = distributions()
    return {name: installed[name] for name in sorted(owners) if name in installed and name != "runtwice"}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
