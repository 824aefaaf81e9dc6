"""Upstream's backends run privately, without clock, time zone, hash seed or shared state."""

from __future__ import annotations

import ast
import datetime
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from envs_registry.bfcl.backend_repairs import REPAIRS
from envs_registry.bfcl.backends import FILES, NOW, TASK_DATE, Backends, load_backends
from envs_registry.bfcl.multi_turn_world import MultiTurnWorld
from toolenv.errors import DataCorruptError, DataMissingError

SOURCES = Path("eval_checker/multi_turn_eval/func_source_code")


@pytest.fixture
def copied_package(bfcl_package: Path, tmp_path: Path) -> Path:
    """A copy that no test before has loaded."""
    shutil.copytree(bfcl_package / SOURCES, tmp_path / SOURCES)
    return tmp_path


def world_of(backends: Backends, *classes: str, config: Any = None, long: bool = False) -> MultiTurnWorld:
    return MultiTurnWorld.create(backends, classes, config or {}, long)


# ---- loading ----


def test_loading_leaves_the_import_system_alone(copied_package: Path) -> None:
    modules, path = set(sys.modules), list(sys.path)
    assert list(load_backends(copied_package)) == list(FILES)
    assert sys.path == path
    assert not [name for name in set(sys.modules) - modules if "bfcl" in name or name in FILES.values()]


def test_threads_that_load_at_once_get_the_same_classes(copied_package: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        loaded = list(pool.map(load_backends, [copied_package] * 8))
    assert all(one is loaded[0] for one in loaded)


def test_absent_source_names_the_command_that_fetches_it(copied_package: Path) -> None:
    (copied_package / SOURCES / "ticket_api.py").unlink()
    with pytest.raises(
        DataMissingError, match=r"ticket_api\.py is absent; get it with: toolenv data pull bfcl"
    ):
        load_backends(copied_package)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def broken(", "ticket_api.py is not upstream's: SyntaxError"),
        ("undefined_name", "ticket_api.py is not upstream's: NameError"),
        ("from bfcl_eval.constants import category_mapping", "imports 'bfcl_eval.constants'"),
        ("import requests", "imports 'requests'"),
        ("TicketAPI = 1", "defines no class TicketAPI"),
    ],
)
def test_another_source_is_refused(copied_package: Path, source: str, message: str) -> None:
    (copied_package / SOURCES / "ticket_api.py").write_text(source)
    with pytest.raises(DataCorruptError, match=message):
        load_backends(copied_package)


# ---- the review of what upstream shares between instances: complete for these sources ----


def trees(package: Path) -> Iterator[tuple[str, ast.Module]]:
    for file in FILES.values():
        yield file, ast.parse((package / SOURCES / f"{file}.py").read_bytes())


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def test_every_mutable_default_is_repaired(bfcl_package: Path) -> None:
    found = {
        function.name
        for _, tree in trees(bfcl_package)
        for function in functions(tree)
        for default in [*function.args.defaults, *function.args.kw_defaults]
        if default is not None and not isinstance(default, ast.Constant)
    }
    assert found == {"post_tweet"}
    assert ("TwitterAPI", "post_tweet") in REPAIRS


def test_every_use_of_module_state_is_known(bfcl_package: Path) -> None:
    """Which functions read mutable module state; ``DEFAULT_STATE`` is deep-copied by upstream."""
    shared = ast.parse((bfcl_package / SOURCES / "long_context.py").read_bytes())
    mutable = {
        node.targets[0].id
        for node in shared.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict | ast.List)
        if isinstance(node.targets[0], ast.Name)
    }
    found = {
        (function.name, name.id)
        for _, tree in trees(bfcl_package)
        for function in functions(tree)
        for name in ast.walk(function)
        if isinstance(name, ast.Name) and name.id in mutable
    }
    changed_or_kept = {
        ("_add_credit_cards", "CREDIT_CARD_EXTENSION"),
        ("_add_booking_records", "BOOKING_RECORD_EXTENSION"),
        ("get_outside_temperature_from_google", "LONG_WEATHER_EXTENSION"),
    }
    only_read_into_a_reply = {
        ("_load_directory", "FILES_TAIL_USED"),
        ("_populate_directory", "POPULATE_FILE_EXTENSION"),
        ("get_order_details", "ORDER_DETAIL_EXTENSION"),
        ("get_stock_info", "MA_5_EXTENSION"),
        ("get_stock_info", "MA_20_EXTENSION"),
        ("get_watchlist", "WATCH_LIST_EXTENSION"),
        ("get_transaction_history", "TRANSACTION_HISTORY_EXTENSION"),
        ("get_available_stocks", "TECHNOLOGY_EXTENSION"),
        ("get_available_stocks", "AUTOMOBILE_EXTENSION"),
        ("estimate_distance", "INTERMEDIARY_CITIES"),
    }
    assert found == changed_or_kept | only_read_into_a_reply


def test_every_clock_and_process_wide_setting_is_known(bfcl_package: Path) -> None:
    imported = {
        (file, ast.unparse(node))
        for file, tree in trees(bfcl_package)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        if not any(
            name in ast.unparse(node) for name in ("typing", "long_context", "deepcopy", "random", "math")
        )
    }
    assert imported == {
        ("gorilla_file_system", "import datetime"),
        ("gorilla_file_system", "import subprocess"),
        ("math_api", "from decimal import Decimal, InvalidOperation, getcontext"),
        ("trading_bot", "from datetime import datetime, time, timedelta"),
        ("travel_booking", "from datetime import datetime"),
    }


# ---- clock and time zone ----


@pytest.fixture
def fixed_time(backends: Backends) -> Any:
    """``datetime`` as the travel backend sees it."""
    return backends["TravelAPI"].verify_traveler_information.__globals__["datetime"]


@pytest.fixture(params=["UTC", "America/New_York", "Asia/Kolkata"])
def local_zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_it_is_always_the_same_moment(fixed_time: Any, local_zone: str) -> None:
    assert fixed_time.now() == fixed_time.today() == fixed_time.utcnow() == NOW
    assert fixed_time.now(datetime.UTC) == NOW.replace(tzinfo=datetime.UTC)
    assert fixed_time.now().astimezone().utcoffset() == datetime.timedelta(0)
    assert TASK_DATE.isoformat() == "2026-01-01"


def test_moments_without_a_zone_are_in_utc(fixed_time: Any, local_zone: str) -> None:
    assert fixed_time(2024, 9, 1, 10, 30).timestamp() == 1725186600  # date -u -d '2024-09-01 10:30' +%s
    assert fixed_time.fromtimestamp(1725186600) == datetime.datetime(2024, 9, 1, 10, 30)


EAST = datetime.timezone(datetime.timedelta(hours=2))
OPERATIONS: list[Callable[[Any], Any]] = [
    lambda kind: repr(kind(2024, 2, 29, 12, 5)),
    lambda kind: str(kind(2024, 2, 29, 12, 5) + datetime.timedelta(days=1, seconds=3)),
    lambda kind: kind(2024, 2, 29).strftime("%Y-%m-%d %I:%M %p"),
    lambda kind: kind.strptime("2024-02-29 01:02:03", "%Y-%m-%d %H:%M:%S"),
    lambda kind: kind.fromisoformat("2024-02-29T01:02:03+02:00"),
    lambda kind: kind(2024, 2, 29, tzinfo=EAST).timestamp(),
    lambda kind: kind(2024, 2, 29, tzinfo=EAST).astimezone(datetime.UTC),
    lambda kind: kind.fromtimestamp(0.5, EAST),
    lambda kind: (kind.min, kind.max),
    lambda kind: kind(2024, 2, 29) - kind(2023, 2, 28),
    lambda kind: (kind(2024, 1, 1) < kind(2024, 1, 2), hash(kind(2024, 1, 1))),
    lambda kind: kind(2024, 1, 1).date(),
]


@pytest.mark.parametrize("operation", OPERATIONS, ids=range(len(OPERATIONS)))
def test_otherwise_it_is_pythons_datetime(fixed_time: Any, operation: Callable[[Any], Any]) -> None:
    assert operation(fixed_time) == operation(datetime.datetime)


def test_transactions_have_the_same_times_in_every_zone(backends: Backends, local_zone: str) -> None:
    world = world_of(backends, "TradingBot", config={"TradingBot": {"authenticated": True}})
    world.call("fund_account", {"amount": 1})
    (transaction,) = world.view()["TradingBot"]["transaction_history"]
    # Upstream's default seed, and the day from its constant present on, 2024-09-01 10:30 UTC.
    moment = random.Random(1053520).randint(1725186600, 1725186600 + 24 * 60 * 60)
    expected = datetime.datetime.fromtimestamp(moment, datetime.UTC).strftime("%Y-%m-%d %H:%M:%S")
    assert transaction["timestamp"] == expected


@pytest.mark.parametrize(("born", "of_age"), [("2008-01-01", True), ("2008-01-02", False)])
def test_travellers_are_as_old_as_on_the_tasks_day(backends: Backends, born: str, of_age: bool) -> None:
    config = {"TravelAPI": {"user_first_name": "A", "user_last_name": "B"}}
    world = world_of(backends, "TravelAPI", config=config)
    traveller = {"first_name": "A", "last_name": "B", "date_of_birth": born, "passport_number": "US1"}
    assert json.loads(world.call("verify_traveler_information", traveller))["verification_status"] is of_age


# ---- hash seed ----

UNORDERED = """
import sys
from pathlib import Path
from envs_registry.bfcl.backends import load_backends
from envs_registry.bfcl.multi_turn_world import MultiTurnWorld

cards = {"c": {"balance": 1}}
config = {"TravelAPI": {"access_token": "t", "token_expires_in": 1, "credit_card_list": cards}}
world = MultiTurnWorld.create(load_backends(Path(sys.argv[1])), ["TravelAPI", "TicketAPI"], config)
print(world.call("book_flight", {"access_token": "t", "card_id": "c", "travel_date": "2026-03-01",
    "travel_from": "LAX", "travel_to": "SFO", "travel_class": "x"}))
world.call("ticket_login", {"username": "u", "password": "p"})
world.call("create_ticket", {"title": "t"})
print(world.call("edit_ticket", {"ticket_id": 1, "updates": {"b": 1, "a": 1, "d": 1, "c": 1, "title": "x"}}))
"""


@pytest.mark.parametrize("seed", ["0", "1", "2"])
def test_no_text_depends_on_the_hash_seed(bfcl_package: Path, seed: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNORDERED, str(bfcl_package)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [
        '{"booking_status": false, "error": "Invalid travel class. Must be one of'
        " {'business', 'economy', 'first'}\"}",
        '{"error": "Invalid fields for update: a, b, c, d"}',
    ]
