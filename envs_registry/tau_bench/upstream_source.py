"""Reads the tasks and tool schemas that upstream keeps as Python source. Nothing is imported or run.

The form is that of TOOLS.md, section 8; whatever else a file holds is refused, not guessed at.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from envs_registry.tau_bench.splits import SPLITS, Split
from toolenv.errors import DataCorruptError

MAX_BYTES: Final = 4_000_000
"""Larger sources are refused unread; upstream's largest has 0.5 MB."""

_TASK_FIELDS: Final = ("annotator", "user_id", "instruction", "actions", "outputs")
_ACTION_FIELDS: Final = ("name", "kwargs")


def derive(upstream: Path, target: Path) -> None:
    """Write the derived files of an upstream tree, byte for byte as their hashes say.

    Args:
        upstream: the repository's root.
        target: where ``derived/…`` goes.

    Raises:
        DataCorruptError: a source is not of the form described; names the file and the line.
    """
    for split in SPLITS.values():
        _write(target / split.file, read_tasks(upstream / split.upstream_file, split))
    for domain in sorted({split.domain for split in SPLITS.values()}):
        tools = read_tools(upstream / "tau_bench" / "envs" / domain / "tools")
        _write(target / "derived" / f"{domain}_tools.json", tools)


def read_tasks(path: Path, split: Split) -> list[dict[str, Any]]:
    """The tasks of one of upstream's lists."""
    elements = _list_of(_parse(path), split.upstream_list, path)
    return [_task(element, index, split, path) for index, element in enumerate(elements)]


def read_tools(folder: Path) -> list[dict[str, Any]]:
    """The schemas of a domain's tools, in the order of ``ALL_TOOLS``."""
    index = folder / "__init__.py"
    tree = _parse(index)
    modules = {
        alias.name: node.module
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
        for alias in node.names
    }
    schemas = []
    for element in _list_of(tree, "ALL_TOOLS", index):
        name = element.id if isinstance(element, ast.Name) else ""
        if name not in modules or "." in modules[name]:
            raise _unreadable(index, element, "a class imported from a module beside it")
        schemas.append(_schema(folder / f"{modules[name]}.py", name))
    return schemas


# ---- tasks ----


def _task(node: ast.expr, index: int, split: Split, path: Path) -> dict[str, Any]:
    fields = _call(node, "Task", _TASK_FIELDS, path)
    if not isinstance(fields["actions"], ast.List):
        raise _unreadable(path, fields["actions"], "a list of actions")
    return {
        "task_id": f"{split.name}_{index}",
        "task_index": index,
        "env": split.domain,
        "split": split.split,
        "user_id": _literal(fields["user_id"], path),
        "actions": [_action(element, path) for element in fields["actions"].elts],
        "instruction": _literal(fields["instruction"], path),
        "outputs": _literal(fields["outputs"], path),
    }


def _action(node: ast.expr, path: Path) -> dict[str, Any]:
    fields = _call(node, "Action", _ACTION_FIELDS, path)
    return {name: _literal(fields[name], path) for name in _ACTION_FIELDS}


def _call(node: ast.expr, name: str, fields: tuple[str, ...], path: Path) -> Mapping[str, ast.expr]:
    """The arguments of ``name(field=…, …)``."""
    if (
        not isinstance(node, ast.Call)
        or not isinstance(node.func, ast.Name)
        or node.func.id != name
        or node.args
        or tuple(keyword.arg for keyword in node.keywords) != fields
    ):
        raise _unreadable(path, node, f"{name}({', '.join(f'{field}=…' for field in fields)})")
    return {str(keyword.arg): keyword.value for keyword in node.keywords}


# ---- tools ----


def _schema(path: Path, class_name: str) -> dict[str, Any]:
    """The literal that the class's ``get_info`` returns."""
    tree = _parse(path)
    for node in _named(tree.body, ast.ClassDef, class_name):
        for method in _named(node.body, ast.FunctionDef, "get_info"):
            returned = method.body[-1]
            if isinstance(returned, ast.Return) and returned.value is not None:
                schema: dict[str, Any] = _literal(returned.value, path)
                return schema
    raise _unreadable(path, tree, f"class {class_name} with get_info() that returns a literal")


def _named(body: list[ast.stmt], kind: type[Any], name: str) -> Iterator[Any]:
    return (node for node in body if isinstance(node, kind) and node.name == name)


# ---- source ----


def _parse(path: Path) -> ast.Module:
    try:
        source = path.read_bytes()
        if len(source) > MAX_BYTES:
            raise DataCorruptError(f"{path}: {len(source)} bytes, more than the {MAX_BYTES} that are read")
        return ast.parse(source, str(path))
    except OSError as error:
        raise DataCorruptError(f"{path} cannot be read: {error}") from error
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataCorruptError(f"{path} is no Python source that can be read: {error}") from error


def _list_of(tree: ast.Module, name: str, path: Path) -> list[ast.expr]:
    """The elements of the list assigned to ``name``."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.List):
            targets = [target.id for target in node.targets if isinstance(target, ast.Name)]
            if targets == [name]:
                return node.value.elts
    raise _unreadable(path, tree, f"{name} = [ … ]")


def _literal(node: ast.expr, path: Path) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        raise _unreadable(path, node, "a literal") from error


def _unreadable(path: Path, node: ast.AST, expected: str) -> DataCorruptError:
    line = getattr(node, "lineno", None)
    return DataCorruptError(f"{path}{f', line {line}' if line else ''}: expected {expected}")


def _write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False), encoding="utf-8")
