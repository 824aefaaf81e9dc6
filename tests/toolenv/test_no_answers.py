"""A policy that returns no (action, memory) pair is told so at once, whatever it returned instead."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, NoReturn

import pytest

from tests.support.toy import toy_source
from tests.toolenv.runner.toy_runs import play, ten_episodes, toy_ids
from toolenv import Malformed, Message, Observation, Stop, ToolCall, ToolCalls, ToolEnv, Usage, rollout
from toolenv.actions import shown
from toolenv.agents.planner import PlannerExecutor
from toolenv.errors import NoActionError, UsageError
from toolenv.policy import preflight

EXPECTED = "expected the pair (action, memory)"


class Gives:
    """Returns one and the same thing."""

    name = "careless"

    def __init__(self, given: Any) -> None:
        self.given, self.asked = given, 0

    def act(self, observation: Observation, memory: Any) -> Any:
        self.asked += 1
        return self.given


class Hostile:
    """Raises whatever is done with it."""

    def _raise(self, *given: Any) -> NoReturn:
        raise RuntimeError("do not touch")

    __repr__ = __str__ = __eq__ = __hash__ = __len__ = __bool__ = __iter__ = _raise
    __contains__ = __getitem__ = __lt__ = __le__ = __format__ = _raise
    __class__ = property(_raise)


class HostileTuple(tuple[Any, ...]):
    """A tuple that raises whatever is done with it."""

    def _raise(self, *given: Any) -> NoReturn:
        raise RuntimeError("do not touch")

    __repr__ = __eq__ = __hash__ = __len__ = __iter__ = __getitem__ = _raise


def made(given: Any) -> Any:
    """A hostile value only where it is needed: pytest looks at the parameters of tests."""
    return given() if callable(given) else given


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "NoneType None"),
        (5, "int 5"),
        (Stop("no"), "Stop(reason='no', "),
        ((Stop("no"),), "tuple (Stop("),
        ((Stop("no"), None, None), "tuple (Stop("),
        ([Stop("no")], "list [Stop("),
        ("ab", "str 'ab'"),
        ({"action": 1}, "dict {'action'"),
        (Hostile, "Hostile whose repr() raises RuntimeError"),
        (lambda: HostileTuple((1,)), "HostileTuple whose repr() raises RuntimeError"),
    ],
)
def test_what_is_no_pair_is_named_with_what_is_expected(given: Any, words: str) -> None:
    with pytest.raises(NoActionError) as raised:
        rollout(ToolEnv(toy_source()), Gives(made(given)), seed=1)
    assert str(raised.value).startswith(f"policy 'careless' gave no action: it returned {words}")
    assert str(raised.value).endswith(EXPECTED)


@pytest.mark.parametrize("kind", [list, HostileTuple])
def test_a_list_of_two_and_any_kind_of_tuple_are_pairs(kind: Any) -> None:
    assert (
        rollout(ToolEnv(toy_source()), Gives(kind([Stop("no"), 7])), seed=1).episode.decided_by
        == "stop_signal"
    )


@pytest.fixture
def _toys() -> Any:
    with toy_ids():
        yield


@pytest.mark.usefixtures("_toys")
def test_a_run_ends_at_the_first_answer_that_is_none() -> None:
    policy = Gives(Stop("no memory"))
    with pytest.raises(NoActionError, match="'careless' gave no action: it returned Stop"):
        play(ten_episodes(), policy)
    assert policy.asked == 1


class InBatches(Gives):
    def act_batch(self, observations: Sequence[Observation], memories: Sequence[Any]) -> Any:
        return [self.given for _ in observations]


class Listing(Gives):
    def act_batch(self, observations: Sequence[Observation], memories: Sequence[Any]) -> Any:
        return self.given


class InFutures(Gives):
    def submit(self, observation: Observation, memory: Any) -> Any:
        future: Future[Any] = Future()
        future.set_result(self.given)
        return future


class Submitting(Gives):
    def submit(self, observation: Observation, memory: Any) -> Any:
        return self.given


class Waiting(Gives):
    def deciding(self, observation: Observation, memory: Any) -> Any:
        yield from ()
        return self.given


class Deciding(Gives):
    def deciding(self, observation: Observation, memory: Any) -> Any:
        return self.given


class Composing(Gives):
    parts: dict[str, Any] = {}  # noqa: RUF012  (as the protocol has it)

    def begin(self, task: Any = None, seed: Any = None) -> None:
        return None

    def deliberate(self, observation: Observation, memory: Any) -> Any:
        return self.given


@pytest.mark.usefixtures("_toys")
@pytest.mark.parametrize("given", [None, Stop("no"), Hostile])
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Gives, "it returned"),
        (InBatches, "it returned"),
        (Listing, "act_batch gave"),
        (InFutures, "it returned"),
        (Submitting, "submit gave"),
        (Waiting, "it returned"),
        (Deciding, "deciding returned"),
        (Composing, "deliberate returned"),
    ],
)
def test_however_it_is_asked(kind: Callable[[Any], Any], words: str, given: Any) -> None:
    with pytest.raises(UsageError, match=r"policy 'careless'") as raised:
        play(ten_episodes(), kind(made(given)), concurrency=4)
    assert f"{words} {shown(made(given))}" in str(raised.value)


def test_a_part_is_named_and_not_the_whole() -> None:
    pair = PlannerExecutor(Gives(Stop("no")), Gives(None))
    with pytest.raises(NoActionError, match="policy 'careless' gave no action: it returned Stop"):
        rollout(ToolEnv(toy_source()), pair, seed=1)


@pytest.mark.parametrize(
    "action",
    [
        lambda: Hostile(),
        lambda: Message(Hostile()),  # type: ignore[arg-type]
        lambda: Malformed("x", Hostile()),  # type: ignore[arg-type]
        lambda: Stop("x", confidence=Hostile()),  # type: ignore[arg-type]
        lambda: Stop("x", usage=Hostile()),  # type: ignore[arg-type]
        lambda: Stop("x", usage=Usage(Hostile())),  # type: ignore[arg-type]
        lambda: ToolCalls(Hostile()),  # type: ignore[arg-type]
        lambda: ToolCalls((Hostile(),)),  # type: ignore[arg-type]
        lambda: ToolCalls((ToolCall("pay", Hostile()),)),  # type: ignore[arg-type]
        lambda: ToolCalls((ToolCall(Hostile(), {}),)),  # type: ignore[arg-type]
    ],
    ids=map(str, range(10)),
)
def test_an_action_whose_parts_raise_is_none(action: Callable[[], Any]) -> None:
    with pytest.raises(NoActionError, match="policy 'careless' gave no action: "):
        rollout(ToolEnv(toy_source()), Gives((action(), None)), seed=1)
    env, given = ToolEnv(toy_source()), action()
    env.reset(seed=1)
    with pytest.raises(NoActionError, match=r"the caller of step\(\) gave no action: "):
        env.step(given)


@pytest.mark.parametrize("cost", [Hostile, 5, lambda: Usage(Hostile())])  # type: ignore[arg-type]
def test_a_preflight_that_returns_no_usage_is_named(cost: Any) -> None:
    class Careless(Gives):
        def preflight(self) -> Any:
            return made(cost)

    with pytest.raises(UsageError, match="preflight of 'careless': "):
        preflight(Careless(None))


def test_a_value_is_shown_by_its_type_and_the_beginning_of_what_it_says() -> None:
    class Meta(type):
        __name__ = property(lambda kind: 1 / 0)

    class Odd(metaclass=Meta):
        def __repr__(self) -> str:
            return "odd"

    class Text(str):
        __slots__ = ()

        def __getitem__(self, at: Any) -> NoReturn:
            raise RuntimeError

    class Says:
        def __repr__(self) -> str:
            return Text("x" * 200)

    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert shown(Odd()) == "Odd odd"
    assert shown(Says()) == "Says " + "x" * 100
    assert shown("a" * 200) == "str 'aaa".ljust(104, "a")
    assert shown(10**5000) == "int of 16610 bits"
    assert shown([10**5000]) == "list whose repr() raises ValueError"
    assert shown(deep) == "list whose repr() raises RecursionError"


class HostileText(str):
    """A text that raises whatever is done with it."""

    __slots__ = ()

    def _raise(self, *given: Any) -> NoReturn:
        raise RuntimeError("do not touch")

    __repr__ = __str__ = __eq__ = __hash__ = __len__ = __iter__ = __getitem__ = _raise
    __format__ = __contains__ = __add__ = encode = strip = isascii = _raise  # type: ignore[assignment]


class HostileDict(dict[str, Any]):
    """A dict that raises whatever is done with it."""

    def _raise(self, *given: Any) -> NoReturn:
        raise RuntimeError("do not touch")

    __repr__ = __eq__ = __len__ = __iter__ = __getitem__ = items = keys = get = _raise


PAY = {"account": "A1", "amount": 7}


@pytest.mark.parametrize(
    ("action", "decided_by"),
    [
        (lambda: Message(HostileText("done")), "message"),
        (lambda: Stop(HostileText("no tool")), "stop_signal"),
        (lambda: Malformed(HostileText("{"), "no JSON"), "malformed"),
        (lambda: Message("done", raw=Hostile()), "message"),
        (lambda: Message("done", raw={"reply": Hostile()}), "message"),
        (lambda: Message("done", raw=HostileDict(reply=1)), "message"),
        (lambda: Malformed("{", "no JSON", record=Hostile()), "malformed"),
        (lambda: ToolCalls((ToolCall(HostileText("pay"), PAY, id=HostileText("1")),)), "truncated"),
        (lambda: ToolCalls((ToolCall("pay", HostileDict(PAY)),)), "truncated"),
        (lambda: ToolCalls((ToolCall("pay", {"account": Hostile()}),)), "truncated"),
        (lambda: ToolCalls((ToolCall("pay", PAY, problem=HostileText("?")),)), "truncated"),
    ],
    ids=map(str, range(11)),
)
def test_texts_and_records_of_any_kind_are_kept_as_plain_ones(
    action: Callable[[], Any], decided_by: str
) -> None:
    played = rollout(ToolEnv(toy_source()), Gives((action(), None)), seed=1)
    assert played.episode.decided_by == decided_by
    assert json.loads(json.dumps(played.trace.to_json())), "fit for the store"


@pytest.mark.parametrize("raw", [Hostile, lambda: HostileDict(a=1), lambda: {"a": Hostile()}], ids="abc")
def test_a_composed_policy_keeps_such_a_record_as_text(raw: Callable[[], Any]) -> None:
    pair = PlannerExecutor(Gives((Message("a plan"), None)), Gives((Message("done", raw=raw()), None)))
    played = rollout(ToolEnv(toy_source()), pair, seed=1)
    assert played.episode.decided_by == "message"
    assert "do not touch" not in json.dumps(played.trace.to_json())
