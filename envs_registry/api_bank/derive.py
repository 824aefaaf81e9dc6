"""Upstream's API classes as schemas: their source is parsed and its literals read; none of it is run.

The form (APIS.md 1): each module of ``apis/`` and ``lv3_apis/`` holds one class whose base is written
``API``, with ``description``, ``input_parameters``, ``output_parameters`` and perhaps ``database_name``
assigned as literals, and a method ``call``.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from envs_registry.api_bank.schemas import FILES
from toolenv.errors import DataCorruptError

LARGEST_SOURCE: Final = 1_000_000
"""Bytes of a module; upstream's have less than a fiftieth."""

_NEEDED: Final[tuple[str, ...]] = ("description", "input_parameters", "output_parameters")
_OPTIONAL: Final[tuple[str, ...]] = ("database_name",)


def derive(upstream: Path, target: Path) -> None:
    """Write the schema files of the data set.

    Args:
        upstream: the folder that holds ``apis/`` and ``lv3_apis/``.
        target: the data set's folder.

    Raises:
        DataCorruptError: a module has not the form above; names it and what is wrong.
    """
    for folder, file in FILES.items():
        schemas = [schema for path in sorted((upstream / folder).glob("*.py")) for schema in _schemas(path)]
        place = target / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(schemas, indent=1, ensure_ascii=False), encoding="utf-8")


def _schemas(path: Path) -> Iterator[dict[str, Any]]:
    for node in _parse(path).body:
        if isinstance(node, ast.ClassDef) and any(_is_api(base) for base in node.bases):
            yield _schema(node, path)


def _parse(path: Path) -> ast.Module:
    if path.stat().st_size > LARGEST_SOURCE:
        raise DataCorruptError(f"{path}: larger than any module of upstream's")
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError, RecursionError) as error:
        raise DataCorruptError(f"{path} is no Python source: {error}") from error


def _is_api(base: ast.expr) -> bool:
    return isinstance(base, ast.Name) and base.id == "API"


def _schema(node: ast.ClassDef, path: Path) -> dict[str, Any]:
    attributes = {name: _literal(value, name, path) for name, value in _assigned(node)}
    absent = [name for name in _NEEDED if name not in attributes]
    if absent:
        raise DataCorruptError(f"{path}: class {node.name} has no {', '.join(absent)}")
    known = {name: attributes[name] for name in (*_NEEDED, *_OPTIONAL) if name in attributes}
    required, optional = _arguments(node, path)
    return {
        "name": node.name,
        "module": path.stem,
        **known,
        "call_args": required + optional,
        "optional_args": optional,
    }


def _assigned(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for statement in node.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and target.id in (*_NEEDED, *_OPTIONAL):
                yield target.id, statement.value


def _literal(value: ast.expr, name: str, path: Path) -> Any:
    try:
        return ast.literal_eval(value)
    except (ValueError, TypeError, RecursionError) as error:
        raise DataCorruptError(f"{path}: {name} is no literal ({error})") from error


def _arguments(node: ast.ClassDef, path: Path) -> tuple[list[str], list[str]]:
    """The parameters of ``call`` without a default, and those with one."""
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "call"]
    if len(methods) != 1:
        raise DataCorruptError(f"{path}: class {node.name} has {len(methods)} methods named call, not one")
    given = methods[0].args
    names = [argument.arg for argument in (*given.posonlyargs, *given.args)][1:]
    optional = names[len(names) - len(given.defaults) :] if given.defaults else []
    return names[: len(names) - len(optional)], optional
