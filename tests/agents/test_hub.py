"""Names on the Hugging Face hub where there is no hub: a copy on this disk, or an error at once."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support.fake_server import Answer, FakeServer, Request, raw
from tests.support.tiny_model import save_tiny_model
from toolenv.agents import hub
from toolenv.agents.hub import as_it_can_be_loaded
from toolenv.agents.local_settings import TransformersSettings
from toolenv.agents.preflight import PROBE
from toolenv.agents.registry import make_agent
from toolenv.errors import PreflightError
from toolenv.ledger import kept_of

NAMED = TransformersSettings(model="nobody/tiny")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's cache, empty; and no hub: a port of this machine that nobody listens at."""
    constants = pytest.importorskip("huggingface_hub.constants", reason="pip install transformers")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{free.getsockname()[1]}")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    monkeypatch.delenv("VLLM_USE_MODELSCOPE", raising=False)
    return tmp_path


def copied(cache: Path) -> Path:
    """Where the libraries keep revision ``main`` of the model, as huggingface_hub documents it."""
    folder = cache / "models--nobody--tiny"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("abc")
    return folder / "snapshots" / "abc"


@pytest.mark.usefixtures("cache")
def test_without_a_network_and_a_copy_the_error_comes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries try six times and take 40 s, so nothing is left to them."""
    loaders = SimpleNamespace(AutoTokenizer=None, AutoModelForCausalLM=None)
    monkeypatch.setattr("toolenv.agents.transformers.TransformersModel", loaders)
    policy = make_agent("transformers:nobody/tiny")
    words = (
        r"^transformers:nobody/tiny: cannot be loaded: there is no folder 'nobody/tiny' here and no copy of a"
        r" model of that name, and the Hugging Face hub cannot be reached \(\w+: .+\); give a folder .* hf"
        r" download nobody/tiny$"
    )
    with pytest.raises(PreflightError, match=words):
        policy.preflight()  # type: ignore[attr-defined]


def test_a_copy_on_this_disk_is_loaded_without_a_network(cache: Path) -> None:
    save_tiny_model(copied(cache), context=4096)
    policy = make_agent("transformers:nobody/tiny", {"max_tokens": 3, "device": "cpu"})
    action = policy.act(PROBE, None)[0]
    assert action.usage is not None
    assert action.usage.output_tokens == 3
    assert policy.settings.model == "nobody/tiny"  # type: ignore[attr-defined]
    assert kept_of(action)["model"] == "nobody/tiny", "as it was asked for, wherever it came from"


def test_a_folder_is_named_without_those_around_it(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    save_tiny_model(tmp_path / "mine", context=4096)
    policy = make_agent(f"transformers:{tmp_path}/mine", {"max_tokens": 3, "device": "cpu"})
    assert kept_of(policy.act(PROBE, None)[0])["model"] == "mine"


def test_half_a_copy_is_none(cache: Path) -> None:
    copied(cache).mkdir(parents=True)
    with pytest.raises(PreflightError, match="no copy of a model of that name"):
        as_it_can_be_loaded(NAMED, "transformers:nobody/tiny")


class Hub(FakeServer):
    """Gives one answer to whatever it is asked."""

    def answer(self, request: Request) -> Answer:
        self.seen.append(request)
        return self.script(request)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("answer", [raw("{}", 404), raw("[]"), raw("<html>welcome to our network</html>")])
def test_a_hub_that_answers_is_left_to_the_libraries(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it has no such model: they say so at once and better."""
    with Hub(answer) as server:
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", server.base_url.removesuffix("/v1"))
        assert as_it_can_be_loaded(NAMED, "transformers:nobody/tiny") is NAMED
        assert [one.path for one in server.seen] == ["/api/models/nobody/tiny"]


def test_a_folder_is_taken_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "_unreachable", lambda model: pytest.fail("the hub was asked"))
    settings = TransformersSettings(model=str(tmp_path))
    assert as_it_can_be_loaded(settings, "x") is settings
