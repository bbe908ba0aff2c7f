"""Claims and their tests as they stand in the source, read without importing any of it.

Commands and checks need to know which test belongs to which claim even where a library is missing or a module does
not import; so the decorators are read from the syntax tree.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from runtwice.claim import Claim, load_all

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_DECORATOR = re.compile(r"""@[\w.]*claim\(\s*["']([^"']+)["']""")


@dataclass(frozen=True)
class TestSource:
    """Where the test of one claim stands, and what its docstring says of how it is tested."""

    __test__ = False

    id: str
    path: Path
    function: str
    line: int
    docstring: str

    def is_at(self, nodeid: str) -> bool:
        """True where pytest calls this test by `nodeid`, xdist's group at its end or not."""
        inside = nodeid.partition("::")[2].replace("::", ".")
        return inside == self.function or inside.startswith(f"{self.function}@")


@dataclass(frozen=True)
class Catalogue:
    """Every claim below one folder, and every test that declares itself to be a claim's."""

    claims: dict[str, Claim]
    tests: dict[str, list[TestSource]]


def read(root: Path) -> Catalogue:
    """The catalogue of the `claims/` folder at `root`.

    Raises:
        ClaimError: a data file breaks the rules.
    """
    tests: dict[str, list[TestSource]] = {}
    for path in sorted(root.glob("*/test_*.py")):
        for test in tests_in(path):
            tests.setdefault(test.id, []).append(test)
    return Catalogue(load_all(root), tests)


def tests_in(path: Path) -> list[TestSource]:
    """The claim tests of one module; of a module with a syntax error, whatever its decorators spell out."""
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return [TestSource(id_, path, "", 0, "") for id_ in _DECORATOR.findall(text)]
    return [
        TestSource(claim_id, path, name, node.lineno, ast.get_docstring(node) or "")
        for name, node in _functions(tree)
        for claim_id in _claimed(node)
    ]


def tests_below(path: Path) -> list[TestSource]:
    """The claim tests of one module, or of all below a folder."""
    modules = [path] if path.is_file() else sorted(path.glob("**/test_*.py"))
    return [test for module in modules for test in tests_in(module)]


def _functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, _Function]]:
    """The functions of a module and of its classes, by qualified name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Function):
            yield prefix + child.name, child
        else:
            inner = f"{prefix}{child.name}." if isinstance(child, ast.ClassDef) else prefix
            yield from _functions(child, inner)


def _claimed(node: _Function) -> Iterator[str]:
    for decorator in node.decorator_list:
        if not isinstance(decorator, ast.Call) or not decorator.args:
            continue
        name = decorator.func.attr if isinstance(decorator.func, ast.Attribute) else getattr(decorator.func, "id", "")
        first = decorator.args[0]
        if name == "claim" and isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value
