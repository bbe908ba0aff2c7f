"""What a claim's result depends on: the code of its experiment, its data, its settings, and the libraries imported.

The code is the test itself, its fixtures, and every first-party module reached from them by static imports (anywhere
in a module, also inside functions). Comments and blank lines do not count, nor do the other tests and fixtures of a
module, nor `@claim(…)` itself: declaring another verdict leaves the experiment what it was. Two equal fingerprints mean
that a changed verdict is not the experiment's doing.
"""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from runtwice.environment import distributions

# The folders below the root whose modules are first-party code of an experiment.
FIRST_PARTY = ("implementations", "claims")

_ARM = re.compile(rf"(?P<module>({'|'.join(FIRST_PARTY)})(\.\w+)+):\w+")

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def fingerprint(
    root: Path, functions: Iterable[tuple[Path, str]], settings: Mapping[str, Any], data: Any = None
) -> dict[str, Any]:
    """Hash and parts of one experiment's fingerprint.

    Args:
        root: The project's root, below which first-party modules stand.
        functions: Module and qualified name of the test and of each fixture it uses, directly or not.
        settings: Measuring settings.
        data: What the experiment reads of the claim's data, as JSON would hold it.

    Returns:
        `code`: hash of source and data; `settings`; `distributions`: version by name; `hash`: of all three.
    """
    wanted: dict[Path, set[str]] = {}
    for path, name in functions:
        wanted.setdefault(path, set()).add(name)
    own = {path: _without_others(_text(path), frozenset(names)) for path, names in sorted(wanted.items())}
    imported = {name for path, (_, nodes) in own.items() for name in _imports(root, path, nodes)}
    reached = _closure(root, imported, set(own))
    code = _digest([*(source for source, _ in own.values()), *map(_significant, map(_text, reached)), data])
    imported.update(name for path in reached for name in _imports_of(root, path))
    versions = _versions(frozenset(imported))
    return {
        "hash": _digest([code, settings, versions]),
        "code": code,
        "settings": dict(settings),
        "distributions": versions,
    }


def code_of_module(root: Path, module: Path) -> str:
    """Hash of one module and of the first-party modules it reaches."""
    return code_of_sources(sources_of_module(root, module))


def code_of_sources(sources: Mapping[Path, str]) -> str:
    """Hash of what `sources_of_module` gave."""
    return _digest(list(sources.values()))


def sources_of_module(root: Path, module: Path) -> dict[Path, str]:
    """Source, without comments, of one module and of the first-party modules it reaches, in their order."""
    reached = _closure(root, _imports_of(root, module), {module})
    return {path: _significant(_text(path)) for path in (module, *reached)}


def versions_of_sources(root: Path, sources: Iterable[Path]) -> dict[str, str]:
    """Versions of the third-party distributions that these modules import."""
    return _versions(frozenset(name for path in sources for name in _imports_of(root, path)))


def is_first_party(root: Path, path: Path) -> bool:
    """True for a module of the project: below one of its rooms, or at its root."""
    parts = path.relative_to(root).parts if path.is_relative_to(root) else ()
    return len(parts) == 1 or (len(parts) > 1 and parts[0] in FIRST_PARTY)


def _closure(root: Path, imported: Iterable[str], known: set[Path]) -> list[Path]:
    """First-party files reached from dotted names, without the `known` ones."""
    seen: set[Path] = set()
    queue = list(imported)
    while queue:
        new = set(_first_party(root, queue.pop())) - known - seen
        seen |= new
        queue += [name for path in new for name in _imports_of(root, path)]
    return sorted(seen)


def _first_party(root: Path, name: str) -> list[Path]:
    """The files that importing a dotted name runs: its module, and the packages around it."""
    parts = name.split(".")
    if parts[0] not in FIRST_PARTY:
        return []
    bases = [root.joinpath(*parts[: depth + 1]) for depth in range(len(parts))]
    return [path for base in bases for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()]


def _imports_of(root: Path, path: Path) -> frozenset[str]:
    return _imports(root, path, (_tree(_text(path)),))


@cache
def _imports(root: Path, path: Path, nodes: tuple[ast.AST, ...]) -> frozenset[str]:
    """Dotted names imported anywhere below the nodes of a file; `from a import b` gives `a` and `a.b`.

    A text like `claims.experiments.batches:decode` counts as well: it is an arm that a fresh process will import.
    """
    names: set[str] = set()
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = _absolute(root, path, node)
            names.add(module)
            names.update(f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and (arm := _ARM.fullmatch(node.value)):
            names.add(arm["module"])
    return frozenset(names)


def _absolute(root: Path, path: Path, node: ast.ImportFrom) -> str:
    """The dotted name of the module that `from … import` names, a relative one seen from `path`."""
    if node.level == 0 or root not in path.parents:
        return node.module or ""
    package = path.relative_to(root).parts[: -node.level]
    return ".".join([*package, *([node.module] if node.module else [])])


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


# What a text gives is kept by the text itself, so that an edited file is never taken for what it was.


@cache
def _tree(text: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):  # a module that does not import is an error of its claims, not of this one
        return ast.Module([], [])


def _significant(text: str) -> str:
    return _joined(_lines(text))


@cache
def _lines(text: str) -> tuple[str | None, ...]:
    """The lines of a module, without comments and with None for blank lines; inside a text both stay."""
    source = text.split("\n")
    lines: list[str | None] = [*source]
    for token in _tokens(text):
        row, column = token.start[0] - 1, token.start[1]
        if token.type == tokenize.COMMENT:
            lines[row] = source[row][:column].rstrip()
        elif token.type == tokenize.NL and not (lines[row] or "").strip():
            lines[row] = None
    return tuple(lines)


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of a module, as far as there are any."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError):
        return


def _joined(lines: Iterable[str | None]) -> str:
    return "\n".join(line for line in lines if line is not None)


@cache
def _without_others(text: str, names: frozenset[str]) -> tuple[str, tuple[ast.AST, ...]]:
    """The source and the syntax of a module without the tests and fixtures that are not among `names`."""
    lines = list(_lines(text))
    nodes: list[ast.stmt] = []
    for qualified, node in _members(_tree(text)):
        decorators = node.decorator_list if isinstance(node, _Function) else []
        others = _is_test_or_fixture(decorators) and qualified not in names
        if not others:
            nodes.append(node)
        unread: Sequence[ast.expr | ast.stmt] = [*decorators, node] if others else [*filter(_is_claim, decorators)]
        for dropped in unread:
            first, last = dropped.lineno - 1, dropped.end_lineno or dropped.lineno
            lines[first:last] = [None] * (last - first)
    return _joined(lines), tuple(nodes)


def _members(node: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[tuple[str, ast.stmt]]:
    """The statements of a module and, instead of a class, those in it, with the names functions have there."""
    for child in node.body:
        if isinstance(child, ast.ClassDef):
            yield from _members(child, f"{prefix}{child.name}.")
        else:
            yield prefix + getattr(child, "name", ""), child


def _is_test_or_fixture(decorators: Sequence[ast.expr]) -> bool:
    return any(_name(decorator) in ("claim", "fixture") for decorator in decorators)


def _is_claim(decorator: ast.expr) -> bool:
    return _name(decorator) == "claim"


def _name(decorator: ast.expr) -> str:
    """`claim` for `@claim(…)` and `@runtwice.claim(…)`."""
    function = decorator.func if isinstance(decorator, ast.Call) else decorator
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


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


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()[:16]
