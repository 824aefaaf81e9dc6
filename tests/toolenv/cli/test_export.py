"""``toolenv export``: what pyarrow and DuckDB read is what the run holds."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet
import pytest

from tests.toolenv.cli.command import CLEAN, INFEASIBLE, Command
from toolenv import __version__
from toolenv.episode import Episode, RoleTokens
from toolenv.errors import StoreError
from toolenv.integrations import parquet
from toolenv.integrations.parquet import COLUMNS, Origin, write_parquet
from toolenv.runner import shards
from toolenv.runner.reading import RUN_FILE, read_episodes, read_header, read_rollouts

BEFORE = ("input_tokens_before", "output_tokens_before")


@pytest.fixture
def kept(place: Path, toolenv: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of 120 episodes in several files."""
    with monkeypatch.context() as patch:
        patch.setattr(shards, "SHARD_BYTES", 50_000)
        ended = toolenv("run", CLEAN, INFEASIBLE, "--agent", "random", "--limit", 60, "--out", "kept")
    assert ended.code == 0, ended.err
    assert len(shards.shard_paths(place / "kept")) > 2
    return place / "kept"


def episode_of(row: dict[str, object]) -> Episode:
    others = (*Origin._fields, *BEFORE, "trace")
    plain = {name: value for name, value in row.items() if name not in others}
    texts = {name: text and json.loads(str(text)) for name, text in plain.items() if COLUMNS[name] == "json"}
    return Episode.from_json({"version": 2, **plain, **texts})


def test_every_field_of_an_episode_has_a_column() -> None:
    assert tuple(COLUMNS) == (*Origin._fields, *Episode.__slots__, *BEFORE)


def test_what_has_not_finished_is_told(kept: Path, toolenv: Command) -> None:
    """Of a run of several files, the first alone is left."""
    first, *others = shards.shard_paths(kept)
    for path in others:
        path.unlink()
    there = len(first.read_bytes().splitlines())
    ended = toolenv("export", "kept", "--out", "x.parquet")
    assert (ended.code, ended.out) == (0, f"{there} episodes in x.parquet\n")
    assert ended.err == (
        f"toolenv: {120 - there} of 120 planned episodes have not finished, and have no row; "
        "toolenv run with --resume goes on with a run\n"
    )


@pytest.mark.parametrize("rows", [7, 20_000])
def test_what_is_read_back_is_what_the_run_holds(
    kept: Path, toolenv: Command, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr(parquet, "ROWS", rows)
    ended = toolenv("export", "kept", "--out", "tables/x.parquet")
    assert (ended.code, ended.out, ended.err) == (0, "120 episodes in tables/x.parquet\n", "")
    file = pyarrow.parquet.ParquetFile(kept.parent / "tables/x.parquet")
    assert file.num_row_groups == -(-120 // rows)
    assert file.schema_arrow.names == list(COLUMNS)
    table = file.read().to_pylist()
    assert [episode_of(row) for row in table] == list(read_episodes(kept))
    assert {row["run"] for row in table} == {read_header(kept)["config_hash"]}
    assert sorted(path.name for path in (kept.parent / "tables").iterdir()) == ["x.parquet"]


def test_traces_are_written_where_they_are_asked_for(kept: Path, toolenv: Command) -> None:
    assert toolenv("export", "kept", "--out", "x.parquet", "--traces").code == 0
    table = pyarrow.parquet.read_table(kept.parent / "x.parquet").to_pylist()
    assert [json.loads(row["trace"]) for row in table] == [one.trace.to_json() for one in read_rollouts(kept)]
    assert [episode_of(row) for row in table] == list(read_episodes(kept))


def test_several_runs_go_into_one_file_that_is_replaced_only_by_force(kept: Path, toolenv: Command) -> None:
    toolenv("run", CLEAN, "--agent", "oracle", "--limit", 5, "--out", "other")
    assert toolenv("export", "kept", "--out", "x.parquet").code == 0
    before = (kept.parent / "x.parquet").read_bytes()
    refused = toolenv("export", ".", "--out", "x.parquet")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == (
        "toolenv: --out x.parquet is there already; give another name, or --force to replace it\n"
    )
    assert (kept.parent / "x.parquet").read_bytes() == before
    ended = toolenv("export", ".", "--out", "x.parquet", "--force")
    assert ended.out == "125 episodes in x.parquet\n"
    agents = pyarrow.parquet.read_table(kept.parent / "x.parquet")["agent"].to_pylist()
    assert agents == ["random"] * 120 + ["oracle"] * 5


def test_runs_of_one_configuration_are_told_apart(kept: Path, toolenv: Command) -> None:
    for folder in ("one", "two"):
        assert toolenv("run", CLEAN, "--agent", "random", "--limit", 2, "--out", f"twice/{folder}").code == 0
    header = json.loads((kept.parent / "twice/two" / RUN_FILE).read_text())
    assert header["versions"].pop("toolenv") == __version__
    (kept.parent / "twice/two" / RUN_FILE).write_text(json.dumps(header))
    assert toolenv("export", "twice", "--out", "x.parquet").code == 0
    rows = pyarrow.parquet.read_table(kept.parent / "x.parquet").to_pylist()
    assert [(row["folder"], row["toolenv"]) for row in rows] == [
        *[("twice/one", __version__)] * 2,
        *[("twice/two", None)] * 2,
    ]
    assert {row["run"] for row in rows} == {header["config_hash"]}


def test_tokens_by_role_are_there(tmp_path: Path, kept: Path) -> None:
    episode = replace(
        next(read_episodes(kept)), roles={"planner": RoleTokens(70, 8), "agent": RoleTokens(3, None)}
    )
    write_parquet(tmp_path / "x.parquet", [(Origin("runs"), episode, None)])
    (row,) = pyarrow.parquet.read_table(tmp_path / "x.parquet").to_pylist()
    assert json.loads(row["roles"]) == {
        "planner": {"input_tokens": 70, "output_tokens": 8, "estimated": False},
        "agent": {"input_tokens": 3, "output_tokens": None, "estimated": False},
    }


def test_unknown_numbers_are_null(tmp_path: Path, kept: Path) -> None:
    episode = next(read_episodes(kept))
    fields = {name: getattr(episode, name) for name in Episode.__slots__}
    unknown = Episode(**{**fields, "input_tokens": None, "reward": None, "success": None, "valid": False})
    write_parquet(tmp_path / "x.parquet", [(Origin("runs"), unknown, None)])
    (row,) = pyarrow.parquet.read_table(tmp_path / "x.parquet").to_pylist()
    assert (row["input_tokens"], row["reward"], row["success"]) == (None, None, None)
    assert row["output_tokens"] == episode.output_tokens


def test_an_episode_that_does_not_fit_is_named_and_leaves_no_file(tmp_path: Path, kept: Path) -> None:
    episode = next(read_episodes(kept))
    fields = {name: getattr(episode, name) for name in Episode.__slots__}
    with pytest.raises(StoreError, match=r"'multiple_0', 0\) does not fit the columns"):
        write_parquet(
            tmp_path / "new" / "x.parquet", [(Origin("runs"), Episode(**{**fields, "seed": 2**70}), None)]
        )
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize(
    ("out", "told"),
    [
        ("x.csv", "--out x.csv: give a name that ends in .parquet"),
        ("folder.parquet", "--out folder.parquet is a folder"),
        ("kept/run.json/x.parquet", "--out kept/run.json/x.parquet cannot be written"),
    ],
)
def test_a_file_that_cannot_be_written_is_named(kept: Path, toolenv: Command, out: str, told: str) -> None:
    (kept.parent / "folder.parquet").mkdir()
    ended = toolenv("export", "kept", "--out", out)
    assert ended.code == 2
    assert ended.err.startswith(f"toolenv: {told}")


def test_without_pyarrow_the_extra_is_named(
    kept: Path, toolenv: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ended = toolenv("export", "kept", "--out", "x.parquet")
    assert ended.code == 2
    assert "pip install -e '.[parquet]' in a checkout" in ended.err


def test_a_damaged_line_is_named_and_leaves_no_file(kept: Path, toolenv: Command) -> None:
    with (kept / "episodes-00001.jsonl").open("ab") as file:
        file.write(b"{}\n")
    ended = toolenv("export", "kept", "--out", "x.parquet")
    assert ended.code == 2
    assert "episodes-00001.jsonl, line" in ended.err
    assert not (kept.parent / "x.parquet").exists()
