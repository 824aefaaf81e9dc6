"""Accounts (APIS.md 5.1)."""

from __future__ import annotations

from typing import Any, Final

from envs_registry.api_bank.registry import SUCCESS, api, own_table
from envs_registry.api_bank.rules import EXACT, equal, every, nothing_invented
from envs_registry.api_bank.state import Failure, State

CODE: Final = 970420
"""Upstream's constant verification code."""

TOKEN_LENGTH: Final = 18
TOKEN_ALPHABET: Final = "abcdefghijklmnopqrstuvwxyz" * 2 + "0123456789"
"""Letters twice: upstream draws from both cases and lower-cases the result."""

RESET: Final = "PasswordReset"
"""What the API remembers between its two calls; no file ships it."""

own_table(RESET, {})


@api("GetUserToken", EXACT)
def get_user_token(state: State, username: Any, password: Any) -> Any:
    """The token of a user."""
    accounts = state.read("Account")
    if username not in accounts:
        raise Failure("The username does not exist.")
    if accounts[username]["password"] != password:
        raise Failure("The password is incorrect.")
    return {"token": accounts[username]["token"]}


@api("CheckToken", EXACT, names_itself=False)
def check_token(state: State, token: Any) -> Any:
    """Whose token it is."""
    return {"username": state.user(token)}


@api("DeleteAccount", EXACT, names_itself=False)
def delete_account(state: State, token: Any) -> Any:
    """Remove an account; its user's records elsewhere stay."""
    username = state.user(token)
    del state.write("Account")[username]
    return {"status": SUCCESS}


@api("RegisterUser", every(nothing_invented, equal("input", "exception")), names_itself=False)
def register_user(state: State, username: Any, password: Any, email: Any) -> Any:
    """Open an account."""
    if username in state.read("Account"):
        raise Failure("The username already exists.")
    token = state.hint["token"] if state.hint else _draw_token(state, username)
    state.write("Account")[username] = {"password": password, "token": token, "email": email}
    return {"token": token}


@api("ModifyPassword", EXACT)
def modify_password(state: State, token: Any, old_password: Any, new_password: Any) -> Any:
    """Change a password."""
    username = state.user(token)
    if state.read("Account")[username]["password"] != old_password:
        raise Failure("The old password is incorrect.")
    _set_password(state, username, new_password)
    return {"status": SUCCESS}


@api("ForgotPassword", EXACT, names_itself=False)
def forgot_password(state: State, status: Any, **rest: Any) -> Any:
    """Two calls: the first sends a code, the second sets a password with it."""
    if status == "Forgot Password":
        return _send_code(state, rest.get("username"), rest.get("email"))
    if status == "Verification Code":
        return _use_code(state, rest.get("verification_code"), rest.get("new_password"))
    raise Failure("The status is only 'Forgot Password' or 'Verification Code'.")


def _send_code(state: State, username: Any, email: Any) -> Any:
    if username is None or email is None:
        raise Failure("The username and email are required for the first call.")
    accounts = state.read("Account")
    if username not in accounts:
        raise Failure("The username does not exist.")
    if accounts[username]["email"] != email:
        raise Failure("The email is incorrect.")
    state.write(RESET)["username"] = username
    return CODE


def _use_code(state: State, code: Any, new_password: Any) -> Any:
    if "username" not in state.read(RESET):
        raise Failure("You need to call the API with status 'Forgot Password' at first.")
    if code is None or new_password is None:
        raise Failure("The new password and verification code are required for the second call.")
    if code != CODE:
        raise Failure("The verification code is incorrect.")
    _set_password(state, state.read(RESET)["username"], new_password)
    return SUCCESS


def _set_password(state: State, username: str, password: Any) -> None:
    accounts = state.write("Account")
    accounts[username] = {**accounts[username], "password": password}


def _draw_token(state: State, username: Any) -> str:
    count = len(TOKEN_ALPHABET)
    draws = (state.draw("token", str(username), place) for place in range(TOKEN_LENGTH))
    return "".join(TOKEN_ALPHABET[number % count] for number in draws)
