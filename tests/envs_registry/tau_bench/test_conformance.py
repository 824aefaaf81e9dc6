"""Against upstream: the vectors of TOOLS.md, section 12, and the end states of the data's own hash file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from envs_registry.tau_bench.load import load_database, load_split
from envs_registry.tau_bench.splits import SPLITS
from envs_registry.tau_bench.world import TauWorld
from tests.envs_registry.tau_bench.conftest import answer
from tests.envs_registry.tau_bench.upstream_hash import Hasher, hash_of

UNTOUCHED = {  # section 12.1
    "retail": "5a4b2cb59f4d12dea7e4adff24a7f8fada510ead49372ea4a729a82bbb5f49b5",
    "airline": "4587e6b48ad2b2c4f3e1fecb40aabec7bb2286513273b8f8cec3f5865222f290",
}


@pytest.fixture(scope="module")
def hashers(tau_root: Path) -> dict[str, Hasher]:
    return {domain: Hasher(load_database(tau_root / "tau-bench", domain)) for domain in UNTOUCHED}


@pytest.mark.parametrize("domain", UNTOUCHED)
def test_the_untouched_database(
    domain: str, tau_folder: Path, hashers: dict[str, Hasher], new_world: Callable[[str], TauWorld]
) -> None:
    assert hash_of(dict(load_database(tau_folder, domain).tables)) == UNTOUCHED[domain]
    assert hashers[domain](new_world(domain)) == UNTOUCHED[domain]


def texts_and_hashes(
    folder: Path, split: str, hashers: dict[str, Hasher] | None
) -> tuple[list[str], list[str]]:
    """The result of every ground-truth call of a split, and the data hash after each task."""
    texts, hashes = [], []
    for task in load_split(folder, SPLITS[split]):
        world = task.metadata["make_world"]()
        texts += [answer(world, action.name, **action.arguments) for action in task.reference.actions]
        if hashers:
            hashes.append(hashers[SPLITS[split].domain](world))
    return texts, hashes


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def each_with_a_newline(texts: Iterable[str]) -> str:
    return "".join(f"{text}\n" for text in texts)


TEXTS = [  # section 12.2: calls, texts that begin with "Error", T
    ("retail_test", 582, 24, "b01f400239fd5082f21488e86597f9cafdc93182de2027b6abf041df9bc85b10"),
    ("retail_train", 768, 20, "5cb8023079b638c7d01ddec5b1e5bcfda98871e18686ae60693014b1cd01bfe4"),
    ("retail_dev", 25, 0, "db077bdfffae1ed40f833700eb6b4309f75be76b810e6e1f4f7f3ab0491b1ba4"),
    ("airline_test", 158, 0, "c836130c7b6935f1820e9b08f2314e77f38af383c2a2385d7c8b36c5899cb2bf"),
]


@pytest.mark.parametrize(("split", "calls", "errors", "digest"), TEXTS)
def test_texts_of_the_ground_truth(
    split: str, calls: int, errors: int, digest: str, tau_folder: Path
) -> None:
    texts, _ = texts_and_hashes(tau_folder, split, None)
    assert (len(texts), sum(text.startswith("Error") for text in texts)) == (calls, errors)
    assert sha256(each_with_a_newline(texts)) == digest


END_STATES = [  # section 12.2: H
    ("retail_test", "64e1b7a8f96f48061997ebee2ca965f2b4f705bb96a31f514831d68d04e48b75"),
    ("retail_dev", "bbe0416c364dd0201e4e2fe91de2e8538d0cc728c38f8afcedc1262820a47109"),
    ("airline_test", "d343d388883d26ccfaa9470ea29b02792cad815c10c19dcf68ed7a54132579f1"),
    ("retail_train", "f75745845ff9e5998df1cf484e3fe9a9a1aa208247a901f50a04ba9a9b366e8f"),
]


@pytest.mark.parametrize(("split", "digest"), END_STATES)
def test_end_states_of_the_ground_truth(
    split: str, digest: str, tau_folder: Path, hashers: dict[str, Hasher]
) -> None:
    _, hashes = texts_and_hashes(tau_folder, split, hashers)
    assert sha256("\n".join(hashes)) == digest


def test_retail_end_states_are_those_of_the_hash_file(
    tau_folder: Path, hashers: dict[str, Hasher], shared_datasets: Path
) -> None:
    path = shared_datasets / "tau-bench" / "derived" / "gt_data_hashes.json"
    expected = json.loads(path.read_text())["retail"]["test"]
    _, hashes = texts_and_hashes(tau_folder, "retail_test", hashers)
    assert len(hashes) == 115
    assert hashes == expected


B = {
    "user_id": "mia_li_3668", "origin": "JFK", "destination": "SEA", "flight_type": "one_way",
    "cabin": "economy", "flights": [], "passengers": [], "payment_methods": [], "total_baggages": 0,
    "nonfree_baggages": 0, "insurance": "no",
}  # fmt: skip
CABINS = {
    "reservation_id": "4WQ150",
    "cabin": "economy",
    "flights": [
        {"flight_number": "HAT170", "date": "2024-05-22"},
        {"flight_number": "HAT022", "date": "2024-05-26"},
    ],
    "payment_id": "gift_card_3576581",
}
CERTIFICATE = {"payment_id": "certificate_7504069", "amount": 50}
QUIRKS: dict[str, tuple[str, list[tuple[str, dict[str, Any]]], str, str]] = {  # section 12.3
    "R1": (
        "retail",
        [
            (
                "modify_pending_order_payment",
                {"order_id": "#W1080318", "payment_method_id": "gift_card_3749819"},
            ),
            ("cancel_pending_order", {"order_id": "#W1080318", "reason": "no longer needed"}),
        ],
        "bcf2f5e64eb58a80b7d76534a125dc2aadc5ce605d4c5cdd5a385efd74ecd300",
        "12a1be1d5a832f23c8ba13b913dd5edd5fd61f15b3f848f1266ed847fbe62ca5",
    ),
    "R2 chained replacement": (
        "retail",
        [
            (
                "modify_pending_order_items",
                {
                    "order_id": "#W3761872",
                    "item_ids": ["6384525445", "9644439410"],
                    "new_item_ids": ["9644439410", "5996159312"],
                    "payment_method_id": "paypal_8229936",
                },
            )
        ],
        "4446b1f1d4202dc5dae1dedc08f6a60516ed8ad5cd087b49999bbdac5ad1cee6",
        "668d0f7d2a91c962d8b37198f38f656f823b89550f9e1f77a5816167f16ca6d0",
    ),
    "R3 duplicate item": (
        "retail",
        [
            (
                "modify_pending_order_items",
                {
                    "order_id": "#W9093821",
                    "item_ids": ["3557711149", "3557711149"],
                    "new_item_ids": ["3928046918", "7251508981"],
                    "payment_method_id": "credit_card_7422485",
                },
            )
        ],
        "634f75addca362d831399c723471763ed038571a3681eb2b840110a33fc21d06",
        "3d4b16442a5b663054217ae13fe75eb44e556cdd312bc0c50f059cfb90009fd0",
    ),
    "R4 empty exchange": (
        "retail",
        [
            (
                "exchange_delivered_order_items",
                {
                    "order_id": "#W4817420",
                    "item_ids": [],
                    "new_item_ids": [],
                    "payment_method_id": "gift_card_8168843",
                },
            )
        ],
        "0a4abbed3a66a6c1c741febd6d4ecd6452283f8bb27698fbd4c61d6a927e31ce",
        "8bddaee3401f96f27dc271cb0695e421411b63996726bcd73197df70c607b131",
    ),
    "R5 sorting": (
        "retail",
        [
            (
                "return_delivered_order_items",
                {
                    "order_id": "#W4817420",
                    "item_ids": ["9624127908", "6777246137"],
                    "payment_method_id": "gift_card_8168843",
                },
            )
        ],
        "01f82889679bc25b0538b4442261a61cf401a308ffca04e02cf7816bb53ec3b1",
        "934b3bee90e21ec0cf0d27e31778147613aefebd90bb266e710f3c8bfd39ee43",
    ),
    "A1 four bookings": (
        "airline",
        [("book_reservation", {**B, "total_baggages": bags}) for bags in range(4)],
        "082273986e11f404e5c07adca2d65f86eafe13f63d12dd585c106cbf6ab559f9",
        "ac8a93710e2afdddf9f8acc10784a5711829ffdd5b82aba465655d882262bf89",
    ),
    "A2 certificate twice": (
        "airline",
        [
            (
                "book_reservation",
                {**B, "nonfree_baggages": 2, "payment_methods": [CERTIFICATE, dict(CERTIFICATE)]},
            )
        ],
        "56daa4f15db07e737981cabb755663fa11b7ed72f0adf1cf984dd77d9727434d",
        sha256("Error: 'certificate_7504069'"),
    ),
    "A3 float amount": (
        "airline",
        [
            (
                "book_reservation",
                {
                    **B,
                    "nonfree_baggages": 2,
                    "payment_methods": [{"payment_id": "credit_card_4421486", "amount": 100.0}],
                },
            )
        ],
        "b0bc8f1d989b4880385faaa232d76426c9e6ec97f4a0fd478c1b9eff5bd0676a",
        "24291d54f869f72f65e82169f796e3d202683aee2df46740b946545a26a743dc",
    ),
    "A4 cancel twice": (
        "airline",
        [("cancel_reservation", {"reservation_id": "4WQ150"})] * 2,
        "5bb11705aac0a004f4ec0a1ee8a842da30d67e41f80b61fcda4d6767e037669a",
        "d72ac5c8327be7679732f1b8999008a30efe17624303cf5d8d1ea957f86794d2",
    ),
    "A5 cabin twice": (
        "airline",
        [("update_reservation_flights", CABINS)] * 2,
        "833cb204ed409cf9c79c1f568b983d3a927953b2733c889e4319faed4ab66fa0",
        "22dd106502e4711a0db00c23a7e475cb9b97270c41582a0c8150dcd2296f2a5f",
    ),
    "A6 certificates": (
        "airline",
        [("send_certificate", {"user_id": "mia_li_3668", "amount": 100})] * 3,
        "cfa7f9a8f9939edf02ae943eea0eddf229c15cef44481192774cf6a58cbc7b4a",
        sha256("Certificate certificate_3221324 added to user mia_li_3668 with amount 100."),
    ),
    "A7 overnight": (
        "airline",
        [("search_onestop_flight", {"origin": "LGA", "destination": "SFO", "date": "2024-05-16"})],
        UNTOUCHED["airline"],
        "7d6037b2bb77b5ad7d72c0496d7aec909ecf3d63fa61379160508f0edd1e475b",
    ),
}


@pytest.mark.parametrize("name", QUIRKS)
def test_quirks(name: str, hashers: dict[str, Hasher], new_world: Callable[[str], TauWorld]) -> None:
    domain, calls, data_hash, digest = QUIRKS[name]
    world = new_world(domain)
    texts = [answer(world, tool, **arguments) for tool, arguments in calls]
    assert hashers[domain](world) == data_hash
    assert sha256(texts[-1]) == digest


def test_the_fourth_certificate_is_none(
    hashers: dict[str, Hasher], new_world: Callable[[str], TauWorld]
) -> None:
    """Vector A6 has four calls; the last changes nothing and returns no text."""
    world = new_world("airline")
    results = [answer(world, "send_certificate", user_id="mia_li_3668", amount=100) for _ in range(4)]
    assert results[3] is None
    assert hashers["airline"](world) == QUIRKS["A6 certificates"][2]
