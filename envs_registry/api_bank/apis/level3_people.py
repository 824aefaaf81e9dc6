"""Level 3: people, their posts, films and meetings (APIS.md 6)."""

from __future__ import annotations

from typing import Any, Final

from envs_registry.api_bank.apis.level3_life import LEVEL_3, STRICT
from envs_registry.api_bank.registry import SUCCESS, api, own_table
from envs_registry.api_bank.rules import NAMED, equal, every
from envs_registry.api_bank.state import Failure, State

USERS: Final = {
    "John": ("123456", "john@example.com", "1234567890"),
    "Mary": ("abcdef", "mary@example.com", "0987654321"),
    "Peter": ("qwerty", "peter@example.com", "1231231234"),
    "Tom": ("asdfgh", "tom@example.com", "4564564567"),
    "Jerry": ("zxcvbn", "jerry@example.com", "7897897890"),
}
"""Password, e-mail and telephone."""

ORGANIZATIONS: Final = {
    "Alibaba": ("John", "Mary", "Peter"),
    "Tencent": ("Tom", "Jerry"),
    "Baidu": ("Jack", "Rose"),
    "ByteDance": ("Bob", "Alice"),
    "JD": ("Mike", "Jane"),
}

STATUS: Final = {
    name: status
    for status, names in (
        ("Traveling", ("John", "Tom", "Bob")),
        ("Working from home", ("Mary", "Jerry", "Alice")),
        ("Working from office", ("Peter", "Jack", "Rose", "Mike", "Jane")),
    )
    for name in names
}

PREFERENCES: Final = {
    "John": ("Action", "Comedy", "Drama"),
    "Mary": ("Comedy", "Drama", "Romance"),
    "Peter": ("Action", "Drama", "Thriller"),
    "Tom": ("Action", "Comedy", "Drama"),
    "Jerry": ("Comedy", "Drama", "Romance"),
}

FILMS: Final = {
    "Action": ("The Dark Knight", "The Matrix", "The Lord of the Rings"),
    "Comedy": ("The Hangover", "Knives Out", "Deadpool"),
    "Drama": ("The Shawshank Redemption", "Forrest Gump", "Joker"),
    "Romance": ("Titanic", "La La Land", "The Notebook"),
    "Thriller": ("Inception", "Parasite", "Get Out"),
}

_FIRST_SEEN = ("The Matrix", "The Lord of the Rings", "The Dark Knight")
_LAST_SEEN = ("The Lord of the Rings", "The Dark Knight", "The Matrix")

WATCHED: Final = {
    "John": _FIRST_SEEN,
    "Mary": _LAST_SEEN,
    "Peter": _FIRST_SEEN,
    "Tom": _LAST_SEEN,
    "Jerry": _FIRST_SEEN,
}

POSTS: Final = 3
"""Posts of each of the five users."""

LIKES: Final = 10
"""Likes of a post, for each unit of its id."""


def _meeting(number: int, name: str, time: str, room: str, people: tuple[str, ...]) -> dict[str, Any]:
    return {
        "meeting_id": number,
        "meeting_name": name,
        "meeting_time": time,
        "meeting_location": room,
        "meeting_attendees": list(people),
    }


_TEAM = ("John", "Mary", "Peter")
_TEAM_MEETINGS = (
    _meeting(1, "Meeting with the client", "2021-01-01 10:00:00", "Room 1", _TEAM),
    _meeting(2, "Meeting about the new project", "2021-01-02 10:00:00", "Room 2", _TEAM),
)
_PAIR_MEETINGS = (_meeting(1, "Meeting", "2021-01-01 10:00:00", "Room 1", ("Tom", "Jerry")),)

MEETINGS: Final = {**dict.fromkeys(_TEAM, _TEAM_MEETINGS), **dict.fromkeys(("Tom", "Jerry"), _PAIR_MEETINGS)}
PROFILES: Final = "Level3Profiles"
"""Addresses added by PersonalInfoUpdate; AccountInfo does not see them."""

own_table(PROFILES, {})


def _check_user(username: Any, password: Any) -> None:
    if username not in USERS or USERS[username][0] != password:
        raise Failure("User not found.")


@api("AccountInfo", STRICT, folder=LEVEL_3)
def account_info(state: State, username: Any, password: Any) -> Any:
    """A user's e-mail and telephone."""
    _check_user(username, password)
    return dict(zip(("email", "phone"), USERS[username][1:], strict=True))


@api("PersonalInfoUpdate", every(NAMED, equal("input", "output")), folder=LEVEL_3)
def personal_info_update(state: State, username: Any, password: Any, address: Any) -> Any:
    """Set a user's address."""
    _check_user(username, password)
    state.write(PROFILES)[username] = address
    return {"status": SUCCESS}


@api("OrganizationMembers", STRICT, folder=LEVEL_3)
def organization_members(state: State, organization: Any) -> Any:
    """Who belongs to an organization."""
    return {"members": list(ORGANIZATIONS[organization])}


@api("TravelStatus", STRICT, folder=LEVEL_3)
def travel_status(state: State, member_name: Any) -> Any:
    """Where somebody works at the moment."""
    return STATUS[member_name]


@api("QueryMeeting", STRICT, folder=LEVEL_3)
def query_meeting(state: State, user_name: Any) -> Any:
    """A user's meetings."""
    return {"meetings": list(MEETINGS[user_name])}


@api("UserMoviePreferences", STRICT, folder=LEVEL_3)
def user_movie_preferences(state: State, user_name: Any) -> Any:
    """The kinds of films a user likes."""
    return {"preferences": list(PREFERENCES[user_name])}


@api("UserWatchedMovies", STRICT, folder=LEVEL_3)
def user_watched_movies(state: State, user_name: Any) -> Any:
    """The films a user has seen."""
    if user_name not in WATCHED:
        raise Failure("User not found.")
    return list(WATCHED[user_name])


@api("MovieRecommendations", STRICT, folder=LEVEL_3)
def movie_recommendations(state: State, preferences: Any) -> Any:
    """Films of each kind, one that fits two kinds twice."""
    return {"recommended_movies": [film for kind in preferences for film in FILMS[kind]]}


@api("UserPosts", STRICT, folder=LEVEL_3)
def user_posts(state: State, user_id: Any) -> Any:
    """The ids of a user's posts."""
    if user_id not in range(1, len(USERS) + 1):
        raise KeyError(user_id)
    last = POSTS * user_id
    return {"post_ids": list(range(last - POSTS + 1, last + 1))}


@api("LikeCount", STRICT, folder=LEVEL_3)
def like_count(state: State, post_id: Any) -> Any:
    """The likes of a post."""
    if post_id not in range(1, POSTS * len(USERS) + 1):
        raise Failure(f"Post with ID {post_id} does not exist.")
    return {"like_count": LIKES * post_id}
