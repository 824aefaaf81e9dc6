"""Bank accounts and stocks (APIS.md 5.7 and 5.9)."""

from __future__ import annotations

from typing import Any, Final

from envs_registry.api_bank.apis.appointments import stripped
from envs_registry.api_bank.registry import SUCCESS, api, own_table
from envs_registry.api_bank.rules import EXACT, OUTCOME, argument, every
from envs_registry.api_bank.state import Failure, State
from envs_registry.api_bank.times import DATE, normal_date, read, settled, write

OPENED: Final = "BankAccounts"
"""Accounts at the bank; nothing connects them with the table of balances."""

own_table(OPENED, {0: {"account": "test", "password": "test", "name": "yifei"}})


@api("QueryBalance", every(argument("token", stripped), OUTCOME))
def query_balance(state: State, token: Any) -> Any:
    """The balance of a user."""
    try:
        token.strip()
        username = state.user(token)
    except Exception as error:  # upstream answers every error alike
        raise Failure("The token is incorrect.") from error
    if username not in state.read("Bank"):
        raise Failure("The user does not have an account.")
    return state.read("Bank")[username]["balance"]


@api("OpenBankAccount", EXACT)
def open_bank_account(state: State, account: Any, password: Any, name: Any) -> Any:
    """Open an account; a name that is taken gives an output, not a failure."""
    if any(known["account"] == account for known in state.read(OPENED).values()):
        return "failed"
    table = state.write(OPENED)
    table[len(table) + 1] = {"account": account, "password": password, "name": name}
    return SUCCESS


def _code(value: Any) -> Any:
    return value.upper().strip()


@api("QueryStock", every(argument("stock_code", _code), argument("date", normal_date), OUTCOME))
def query_stock(state: State, stock_code: Any, date: Any) -> Any:
    """The price of a stock on a day."""
    code, moment = _code(stock_code), read(date, DATE)
    if not code:
        raise Failure("The stock code cannot be empty.")
    day = write(settled(moment), DATE)
    stocks = state.read("Stock")
    if code not in stocks:
        raise Failure("The stock code does not exist.")
    if day not in stocks[code]:
        raise Failure("The stock price of this date is not maintained.")
    return stocks[code][day]
