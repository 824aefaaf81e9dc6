"""Upstream's eight multi-turn backend classes, run out of the pulled wheel and made fit for many episodes.

The source files are compiled into private modules: ``bfcl_eval`` never enters ``sys.modules``, ``sys.path``
stays as it is, and nothing beyond the standard library and ``mpmath`` is imported. What a backend does is
upstream's own code. These things are changed, so that an answer depends on nothing but the episode:

- Clock and time zone: :data:`NOW` in UTC, for file times, ages of travellers and transaction times.
- Order of sets: fixed, where upstream's texts follow the process's hash seed (allowed travel classes, fields
  of a ticket that cannot be edited).
- Sums of floats: rounded at every step, as in upstream's Python; 3.12 began to round once, which shows in
  the last digit.
- State that upstream shares between instances: the lists that tweets get by default, the credit cards and
  bookings of long contexts, the long weather report, the precisions of ``mpmath`` and ``decimal``.
- Size: a call that would take minutes or gigabytes (a power of millions of digits, a directory copied into
  itself over and over) fails with an error, as it would have for want of memory.
"""

from __future__ import annotations

import ast
import builtins
import datetime
import functools
import importlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType, ModuleType, SimpleNamespace
from typing import Any, Final, TypeAlias

from envs_registry.bfcl.backend_repairs import REPAIRS
from toolenv.errors import DataCorruptError, DataError, DataMissingError

Backends: TypeAlias = Mapping[str, type[Any]]
"""Backend classes by upstream's name."""

FILES: Final[Mapping[str, str]] = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}
"""Upstream's backend classes, and the source file of each."""

NOW: Final = datetime.datetime(2026, 1, 1, 10, 30)
"""What a backend takes for the present, UTC.

All flights of the data set's tasks are in 2026, the first on 28 February, and its users speak of "this year
2026"; all travellers are of age. The trading bot's own clock, 1 September 2024, is a constant of its code.
"""

TASK_DATE: Final = NOW.date()
"""The day on which the tasks play."""

_SOURCES: Final = Path("eval_checker", "multi_turn_eval", "func_source_code")
_NAMESPACE: Final = "bfcl_eval.eval_checker.multi_turn_eval.func_source_code."


def load_backends(package: Path) -> Backends:
    """The backend classes of an unpacked ``bfcl_eval`` folder, loaded once per process and folder.

    Raises:
        DataMissingError: a source file is absent.
        DataCorruptError: a source file is not that of the pinned version.
    """
    with _LOADING:
        return _load(package.resolve())


_LOADING: Final = threading.Lock()


@functools.cache
def _load(package: Path) -> Backends:
    loader = _Loader(package / _SOURCES)
    classes = {name: loader.backend(name) for name in FILES}
    for (class_name, method_name), repairs in REPAIRS.items():
        for repair in repairs:
            setattr(classes[class_name], method_name, repair(getattr(classes[class_name], method_name)))
    return MappingProxyType(classes)


# ---- private modules ----


class _Loader:
    """Runs source files of one folder as modules that nothing else can reach."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.modules: dict[str, ModuleType] = {}
        ours = {"__import__": self._import, "set": _SortedSet, "sum": _plain_sum}
        self.builtins = {**vars(builtins), **ours}

    def backend(self, name: str) -> type[Any]:
        """The class ``name``."""
        found = getattr(self._module(FILES[name]), name, None)
        if not isinstance(found, type):
            raise DataCorruptError(f"{self.folder / FILES[name]}.py defines no class {name}")
        return found

    def _module(self, name: str) -> ModuleType:
        if name not in self.modules:
            module = ModuleType(_NAMESPACE + name)
            module.__dict__["__builtins__"] = self.builtins
            self._run(self.folder / f"{name}.py", module.__dict__)
            self.modules[name] = module
        return self.modules[name]

    def _run(self, file: Path, namespace: dict[str, Any]) -> None:
        try:
            tree = _SetLiterals().visit(ast.parse(file.read_bytes(), filename=str(file)))
            exec(compile(tree, str(file), "exec", dont_inherit=True), namespace)
        except FileNotFoundError as error:
            raise DataMissingError(f"{file} is absent; get it with: toolenv data pull bfcl") from error
        except DataError:
            raise
        except Exception as error:
            raise DataCorruptError(f"{file} is not upstream's: {type(error).__name__}: {error}") from error

    def _import(self, name: str, *context: Any) -> Any:
        """Stands in for ``__import__``, in upstream's statements and where a built-in imports in passing."""
        if name.startswith(_NAMESPACE):
            return self._module(name.removeprefix(_NAMESPACE))
        if name in _STAND_INS:
            return _STAND_INS[name]()
        if name.partition(".")[0] in sys.stdlib_module_names:
            return builtins.__import__(name, *context)
        raise DataCorruptError(f"a source file in {self.folder} imports {name!r}, which upstream's does not")


class _SetLiterals(ast.NodeTransformer):
    """Has ``{a, b}`` made by ``set``, which is :class:`_SortedSet` here; mere membership tests stay."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Leave ``x in {a, b}`` alone."""
        return node

    def visit_Set(self, node: ast.Set) -> ast.AST:
        """``{a, b}`` → ``set([a, b])``."""
        self.generic_visit(node)
        items = ast.List(elts=node.elts, ctx=ast.Load())
        call = ast.Call(func=ast.Name(id="set", ctx=ast.Load()), args=[items], keywords=[])
        return ast.fix_missing_locations(ast.copy_location(call, node))


class _SortedSet(set[Any]):
    """A set that is iterated and written in one order, whatever the hash seed."""

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(super().__iter__(), key=repr))

    def __repr__(self) -> str:
        return f"{{{', '.join(map(repr, self))}}}" if self else "set()"

    def __sub__(self, other: Any) -> _SortedSet:
        return _SortedSet(super().__sub__(other))


def _plain_sum(values: Iterable[Any], start: Any = 0) -> Any:
    """The sum as Python before 3.12 computes it."""
    for value in values:
        start = start + value
    return start


# ---- stand-ins for libraries ----


class _FixedTime(datetime.datetime):
    """``datetime`` for which it is always :data:`NOW`, in a place whose time zone is UTC."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> _FixedTime:
        present = cls.fromisoformat(NOW.isoformat())
        return present if tz is None else present.astimezone(tz)

    @classmethod
    def today(cls) -> _FixedTime:
        return cls.now()

    @classmethod
    def utcnow(cls) -> _FixedTime:
        return cls.now()

    @classmethod
    def fromtimestamp(cls, timestamp: float, tz: datetime.tzinfo | None = None) -> _FixedTime:
        moment = super().fromtimestamp(timestamp, tz or datetime.UTC)
        return moment if tz else moment.replace(tzinfo=None)

    def timestamp(self) -> float:
        return super(_FixedTime, self._aware()).timestamp()

    def astimezone(self, tz: datetime.tzinfo | None = None) -> _FixedTime:
        return super(_FixedTime, self._aware()).astimezone(tz or datetime.UTC)

    def _aware(self) -> _FixedTime:
        return self if self.utcoffset() is not None else self.replace(tzinfo=datetime.UTC)


_FixedTime.__name__ = "datetime.datetime"  # as its repr and Python's errors call it


class _OwnPrecision(threading.local):
    """``mpmath`` with a context for each thread, since its own is one for the whole process."""

    def __init__(self) -> None:
        mpmath = importlib.import_module("mpmath")  # takes a while, and has no type hints
        self.mp = mpmath.MPContext()
        self.log = self.mp.log


_STAND_INS: Final[Mapping[str, Callable[[], Any]]] = {
    "datetime": lambda: SimpleNamespace(**{**vars(datetime), "datetime": _FixedTime}),
    "mpmath": _OwnPrecision,
    "subprocess": SimpleNamespace,  # imported by upstream and never used
}
