"""Settings of models in this process: bad ones refused by name, before anything heavy is imported."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolenv.agents import local_settings
from toolenv.agents.local_settings import (
    LocalSettings,
    TransformersSettings,
    VllmSettings,
    need_packages,
    read_settings,
)
from toolenv.agents.registry import agent_names, make_agent
from toolenv.agents.settings import SERVER_OPTIONS
from toolenv.errors import UnknownNameError, UsageError
from toolenv.runner.plan import REACHING_OPTIONS


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    folder = tmp_path / "models" / "small-instruct"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    return folder


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ({"temperature": -0.1}, r"temperature=-0.1; give a number from 0"),
        ({"temperature": float("nan")}, "temperature=nan"),
        ({"temperature": None}, "temperature=None"),
        ({"top_p": 0}, "top_p=0; give a number above 0, at most 1"),
        ({"top_p": 1.5}, "top_p=1.5"),
        ({"max_tokens": 0}, "max_tokens=0; give at least 1"),
        ({"max_model_len": 1}, "max_model_len=1; give at least 2"),
        ({"seed": "x"}, "seed='x'; give a valid integer"),
        ({"tool_section": "none"}, "tool_section='none'; give 'auto', 'template' or 'prompt'"),
        ({"chat_template": "no/such.jinja"}, "chat_template='no/such.jinja'; give a file"),
        ({"enable_thinking": 1}, "enable_thinking=1"),
        ({"reasoning_effort": "lwo"}, "reasoning_effort='lwo'; give .*'low'"),
    ],
)
def test_bad_values_are_refused_by_name(bad: dict[str, Any], words: str) -> None:
    for kind in (LocalSettings, TransformersSettings, VllmSettings):
        with pytest.raises(UsageError, match=f"{kind.__name__}: {words}"):
            kind(model="org/model", **bad)


def test_the_engine_gets_what_is_no_setting_of_its_own() -> None:
    settings = VllmSettings(model="m", dtype="float32", engine={"max_num_seqs": 8})
    assert settings.engine_arguments["max_num_seqs"] == 8
    assert settings.engine_arguments["dtype"] == "float32"
    with pytest.raises(UsageError, match=r"engine=\['dtype'\]; give arguments that are no settings"):
        VllmSettings(model="m", engine={"dtype": "float32"})
    with pytest.raises(UsageError, match="tensor_parallel_size=0"):
        VllmSettings(model="m", tensor_parallel_size=0)


@pytest.mark.parametrize("agent", ["transformers", "vllm"])
def test_an_unknown_option_is_named_with_the_nearest(agent: str, checkpoint: Path) -> None:
    kind = TransformersSettings if agent == "transformers" else VllmSettings
    with pytest.raises(UnknownNameError, match=f"'temprature' in agent {agent}:.*'temperature'"):
        read_settings(kind, agent, str(checkpoint), {"temprature": 1})
    with pytest.raises(UnknownNameError, match=r"'max_token'.*'max_tokens'"):
        read_settings(kind, agent, str(checkpoint), {"max_token": 1})


def test_how_a_server_is_reached_is_taken_no_notice_of(checkpoint: Path) -> None:
    """A pair of a served model and a local one may be given a server's address for both."""
    assert SERVER_OPTIONS == REACHING_OPTIONS
    given = {"base_url": "http://127.0.0.1:8000/v1", "timeout": 5.0, "max_tokens": 7}
    settings = read_settings(TransformersSettings, "transformers", str(checkpoint), given)
    assert settings.cap == 7
    assert "base_url" not in settings.to_json()


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("", "names no model"),
        ("{there}/small-instrukt", "there is no folder .*did you mean '.*small-instruct'"),
        ("{there}", "holds no checkpoint; did you mean '.*small-instruct'|holds no checkpoint; a checkpoint"),
        ("{there}/small-instruct/config.json", "is a file; give the folder"),
        ("~/no/such/model", "there is no folder '~/no/such/model'"),
    ],
)
def test_a_path_without_a_checkpoint_is_named_with_the_nearest(
    checkpoint: Path, model: str, words: str
) -> None:
    with pytest.raises(UsageError, match=words) as raised:
        read_settings(LocalSettings, "transformers", model.format(there=checkpoint.parent), {})
    assert "agent transformers:" in str(raised.value)


def test_a_name_on_the_hub_is_taken_as_it_is() -> None:
    assert read_settings(LocalSettings, "vllm", "org/model", {}).model == "org/model"
    assert read_settings(LocalSettings, "vllm", "gpt2", {}).model == "gpt2"


def test_an_absent_package_is_named_with_the_command_that_installs_it() -> None:
    with pytest.raises(UsageError, match=r"not installed: no_such_package; .* pip install -e '\.\[vllm\]'"):
        need_packages("agent vllm:m", ("json", "no_such_package"), "vllm")


@pytest.mark.parametrize("agent", ["transformers", "vllm"])
def test_an_agent_without_its_packages_is_refused(
    agent: str, checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_settings, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=rf"pip install -e '\.\[{agent}\]'"):
        make_agent(f"{agent}:{checkpoint}")


@pytest.mark.parametrize(
    ("model", "thinking", "cap"),
    [
        ("/models/Qwen3.5-9B", None, 8192),
        ("Qwen/Qwen3.5-27B", False, 2048),
        ("openai/gpt-oss-120b", None, 2048),
        ("meta-llama/Llama-3.1-70B-Instruct", None, 4096),
    ],
)
def test_caps_are_those_of_appendix_c(model: str, thinking: bool | None, cap: int) -> None:
    assert LocalSettings(model=model, enable_thinking=thinking).cap == cap


def test_the_record_holds_all_that_may_move_a_score(tmp_path: Path) -> None:
    template = tmp_path / "own.jinja"
    template.write_text("abc")
    record = VllmSettings(model="gpt-oss-20b", chat_template=str(template)).to_json()
    assert record["max_tokens"] == 2048
    assert record["prompt_version"] == 1
    assert record["tool_section_version"] == 1
    # printf abc | sha256sum
    assert record["chat_template_sha256"].startswith("ba7816bf8f01cfea")
    assert VllmSettings(model="m").to_json()["chat_template_sha256"] is None


def test_policies_share_a_model_unless_it_is_loaded_otherwise() -> None:
    def key(**settings: Any) -> Mapping[str, Any] | tuple[str, ...]:
        return TransformersSettings(model="m", **settings).load_key

    assert key() == key(max_tokens=7, temperature=0.5, protocol="", enable_thinking=False, top_p=0.5, seed=3)
    assert len({key(), key(dtype="float32"), key(device="cpu"), key(max_model_len=99)}) == 4
    assert VllmSettings(model="m").load_key != key()
    assert VllmSettings(model="m", engine={"seed": 1}).load_key != VllmSettings(model="m").load_key


def test_listing_and_making_agents_imports_nothing_heavy(checkpoint: Path) -> None:
    assert {"transformers", "vllm"} <= set(agent_names())
    program = (
        "import sys; from toolenv.agents.registry import agent_names, make_agent; agent_names();"
        "from importlib.util import find_spec;"
        f"find_spec('torch') and find_spec('transformers') and make_agent('transformers:{checkpoint}');"
        "print([one for one in ('torch', 'transformers', 'vllm') if one in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
