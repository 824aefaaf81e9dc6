"""Waits between attempts, and how fast requests may go to one server."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from heapq import heappop, heappush
from typing import TypeVar

import pytest

from tests.support.clock import FakeClock
from tests.support.fake_server import MODEL, FakeServer, completion, error, in_order
from toolenv.errors import UsageError
from toolenv.model_server import ChatServer
from toolenv.model_server.backoff import Backoff, share
from toolenv.model_server.circumstances import Circumstances, under
from toolenv.model_server.clock import Pause
from toolenv.model_server.limits import Gate, Gates, Limits, OutOfTimeError
from toolenv.model_server.reactor import Reactor
from toolenv.waiting import Waiting, block

Result = TypeVar("Result")


def test_waits_double_and_stop_at_the_longest() -> None:
    backoff = Backoff(first=0.5, longest=3.0)
    full = [0.5, 1.0, 2.0, 3.0, 3.0]
    waits = [backoff.delay(number, "a request") for number in range(1, 6)]
    assert all(most / 2 <= wait <= most for wait, most in zip(waits, full, strict=True))
    assert Backoff().delay(10_000, "x") <= 60.0


def test_jitter_is_a_function_of_the_request_and_spreads_evenly() -> None:
    assert Backoff().delay(3, "a") == Backoff().delay(3, "a")
    waits = [Backoff().delay(1, f"request {number}") for number in range(1000)]
    assert len(set(waits)) == 1000
    # The mean of an even spread over [0.5, 1.0] is 0.75, its standard error here 0.0046.
    assert abs(sum(waits) / 1000 - 0.75) < 0.02
    assert all(0 <= share("x", number) < 1 for number in range(100))


def test_trials_that_send_the_same_do_not_come_back_together() -> None:
    waits = []
    for seed in (1, 2, 3, 1):
        clock = FakeClock()
        with FakeServer(in_order(error(503, "busy"), completion("hi"))) as server:
            chat = ChatServer(base_url=server.base_url, clock=clock.clock)
            with under(Circumstances(Gates(clock=clock.clock), seed=seed)):
                chat.complete({"model": MODEL, "messages": [{"role": "user", "content": "hi"}]})
            chat.close()
        waits += clock.sleeps
    assert len(set(waits)) == 3
    assert waits[0] == waits[3], "the same seed waits the same"


def doing(what: Callable[[], Result]) -> Waiting[Result]:
    """A request in flight that is over at once."""
    yield from ()
    return what()


def passed(gate: Gate, requests: int, clock: FakeClock) -> list[float]:
    return [block(gate.passage(doing(clock.now))) for _ in range(requests)]


def test_requests_a_minute_are_evenly_spaced() -> None:
    clock = FakeClock()
    moments = passed(Gate(Limits(per_minute=120), clock.clock), 5, clock)
    assert [one - moments[0] for one in moments] == [0, 0.5, 1.0, 1.5, 2.0]


def test_one_limit_holds_for_all_threads() -> None:
    clock = FakeClock()
    gate = Gate(Limits(per_minute=60), clock.clock)
    with ThreadPoolExecutor(8) as pool:
        moments = sorted(pool.map(lambda _: passed(gate, 1, clock)[0], range(20)))
    assert moments[-1] - 1000.0 >= 19.0, "twenty requests at one a second take 19 seconds"


def test_no_more_in_flight_than_allowed() -> None:
    gate, inside, most, lock = Gate(Limits(in_flight=3)), 0, 0, threading.Lock()
    met = threading.Barrier(3, timeout=10)

    def request() -> None:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        met.wait()  # three at a time do get in
        with lock:
            inside -= 1

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(lambda _: block(gate.passage(doing(request))), range(12)))
    assert most == 3


def test_a_server_that_asks_for_quiet_gets_it_from_everybody() -> None:
    clock = FakeClock()
    gate = Gate(clock=clock.clock)
    assert passed(gate, 2, clock) == [1000.0, 1000.0]
    gate.keep_quiet(7)
    gate.keep_quiet(3)
    assert passed(gate, 2, clock) == [1007.0, 1007.0]
    assert clock.sleeps == [7.0]


def played_out(passages: Iterable[Waiting[float]], clock: FakeClock) -> list[float]:
    """When each ends, all of them waiting beside each other."""
    waiting = [(clock.now(), number, one) for number, one in enumerate(passages)]
    ended = []
    while waiting:
        moment, number, passage = heappop(waiting)
        clock.sleep(max(0.0, moment - clock.now()))
        try:
            pause = next(passage)
        except StopIteration as end:
            ended.append(end.value)
        else:
            assert isinstance(pause, Pause)
            heappush(waiting, (clock.now() + pause.seconds, number, passage))
    return ended


def test_turns_are_put_off_by_the_servers_quiet_and_stay_as_far_apart() -> None:
    """Ten a second; all that waited would else come in the moment in which the quiet ends."""
    clock = FakeClock()
    gate = Gate(Limits(per_minute=600), clock.clock)

    def refused() -> Waiting[float]:
        gate.keep_quiet(4)
        yield from ()
        return 0.0

    requests = [gate.passage(doing(clock.now)) for _ in range(40)]
    first, told, *moments = played_out([*requests, refused()], clock)
    assert (first, told, len(moments)) == (1000.0, 0.0, 39)
    assert moments[0] == pytest.approx(1004.1)
    apart = [later - earlier for earlier, later in itertools.pairwise(moments)]
    assert min(apart) == pytest.approx(0.1)


def test_who_waited_for_the_servers_quiet_without_turns_comes_back_spread() -> None:
    """Over a tenth of the quiet, evenly."""
    clock = FakeClock()
    gate = Gate(clock=clock.clock)
    gate.keep_quiet(10)
    pauses = [next(gate.passage(doing(clock.now))) for _ in range(100)]
    waits = sorted(pause.seconds for pause in pauses if isinstance(pause, Pause))
    assert len(waits) == 100
    assert (waits[0], 10.9 < waits[-1] < 11.0) == (10.0, True)
    apart = [later - earlier for earlier, later in itertools.pairwise(waits)]
    assert max(apart) < 0.03, "1 s for 100 of them"


def test_waiting_in_vain_is_not_begun() -> None:
    clock = FakeClock()
    gate = Gate(clock=clock.clock)
    gate.keep_quiet(7)
    with pytest.raises(OutOfTimeError):
        block(gate.passage(doing(clock.now), until=1005.0))
    assert clock.sleeps == []
    full = Gate(Limits(in_flight=1), clock.clock)

    def another() -> str:
        with pytest.raises(OutOfTimeError):
            block(full.passage(doing(clock.now), until=1000.0))
        return "refused"

    assert block(full.passage(doing(another))) == "refused"
    assert block(full.passage(doing(clock.now))) == 1000.0, "a place waited for in vain is nobody's"


def test_nothing_is_kept_of_a_wait_that_is_over() -> None:
    """Its end, an hour ahead, is no longer waited for."""
    gate, reactor, came = Gate(Limits(in_flight=1)), Reactor(), list[float]()

    def request() -> Waiting[float]:
        yield Pause(0.001)
        return gate.clock.now()

    for _ in range(5):
        reactor.drive(gate.passage(request(), until=gate.clock.now() + 3600), came.append)
    while len(came) < 5:
        reactor.run()
    assert not reactor._timers
    reactor.close()


def test_a_turn_that_comes_too_late_is_left_to_others() -> None:
    """One request a second: the second of those at hand goes at 1001, whatever gave up before."""
    clock = FakeClock()
    gate = Gate(Limits(per_minute=60), clock.clock)
    assert passed(gate, 1, clock) == [1000.0]
    for _ in range(50):
        with pytest.raises(OutOfTimeError):
            block(gate.passage(doing(clock.now), until=1000.5))
    assert passed(gate, 1, clock) == [1001.0]


def test_each_server_has_a_gate_of_its_own() -> None:
    gates = Gates(Limits(in_flight=1))
    assert gates.of("http://a/v1") is gates.of("http://a/v1") is not gates.of("http://b/v1")


def test_processes_share_a_limit() -> None:
    assert Limits(per_minute=600, in_flight=9).shared_by(4) == Limits(150.0, 2)
    assert Limits(in_flight=2).shared_by(4) == Limits(in_flight=1)


@pytest.mark.parametrize(
    ("limits", "told"), [({"per_minute": 0}, "per_minute=0"), ({"in_flight": 0}, "in_flight=0")]
)
def test_limits_that_let_nothing_through_are_refused(limits: dict[str, int], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Limits(**limits)
