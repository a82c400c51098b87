"""The budget on the page: what is left, what it went to, and what a filled form would spend an amount on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from discreet.dp.amounts import exact, said
from discreet.dp.foresight import CountNoise, Foresight, foresee_amount, foresee_noise
from discreet.dp.ledger import Balance
from discreet.errors import DiscreetError, InvalidParameter
from discreet.sentences import Sentence
from discreet.web.api.parameters import (
    GuaranteeParameters,
    SpendingParameters,
    SynthesizeParameters,
    TabulateParameters,
)
from discreet.web.budgets import ledger_beside
from discreet.web.cases import Case
from discreet.web.policies import column_at, columns_document, columns_of, policy_of
from discreet.web.refusals import explain
from discreet.web.service import Service

FIRST_EPSILON, FIRST_DELTA = "1", "1e-6"
"""What is proposed as a budget."""
MOST_AT_ONCE = Fraction(1, 2)
"""So much is proposed to be spent at once, if so much is left."""
MOST_ENTRIES = 8
"""So many amounts that were spent are listed, the newest."""
THOUSANDS = re.compile("[+-]?[1-9][0-9]{0,2}([.,][0-9]{3})+")
"""Numbers whose sign may part thousands or begin decimals, by who reads them."""
TYPED = ("low", "high", "values")
"""What is typed for each column."""
NUMBERS, CODED = ("integer", "float"), ("text", "integer", "float", "boolean")
"""How columns are stored that need bounds, and those that can be counted at all."""
Content = dict[str, Any]


def ledger_mark(case: Case) -> object:
    """What changes with every line of the ledger beside a file."""
    if case.origin != "path":
        return None
    try:
        written = ledger_beside(case.source, case.folder).path.stat()
    except OSError:
        return None
    return written.st_size, written.st_mtime_ns


def budget(service: Service, case: Case) -> Content:
    """The ledger of a table, and the columns of which something can be made."""
    content: Content = {"beside": case.origin == "path", "balance": None, "damage": None}
    if not case.was_read or not content["beside"]:
        return content
    ledger = ledger_beside(case.source, case.folder)
    content |= {"ledger": ledger.path.name, "first": (FIRST_EPSILON, FIRST_DELTA)}
    try:
        balance = ledger.balance() if ledger.path.exists() else None
    except DiscreetError as error:
        return {**content, "damage": explain(error)}
    if balance is None or not balance.epsilon:
        return content
    policy = policy_of(case)
    usual = {*policy.quasi_identifiers, *policy.sensitive}
    return {
        **content,
        "balance": _told(balance),
        "person": policy.person,
        "columns": [
            {
                "number": number,
                "name": column["name"],
                "kind": "number" if column["storage"] in NUMBERS else column["storage"],
                "picked": column["name"] in usual,
            }
            for number, column in enumerate(columns_of(case))
            if column["storage"] in CODED
            and column["name"] not in (policy.person, *policy.direct_identifiers)
        ],
    }


def _told(balance: Balance) -> Content:
    """A balance in words and shares."""
    voided = {entry.reservation for entry in balance.entries if entry.kind == "void"}
    spent = [entry for entry in balance.entries if entry.kind == "reserve" and entry.number not in voided]
    return {
        "epsilon": said(balance.epsilon),
        "delta": said(balance.delta),
        "left_epsilon": said(balance.left_epsilon),
        "left_delta": said(balance.left_delta),
        "left": float(balance.left_epsilon / balance.epsilon),
        "proposed_epsilon": said(min(balance.left_epsilon, MOST_AT_ONCE)),
        "proposed_delta": said(balance.left_delta / 2),
        "spent": [
            {"day": entry.time[:10], "epsilon": said(entry.epsilon), "purpose": entry.purpose}
            for entry in reversed(spent[-MOST_ENTRIES:])
        ],
        "earlier": max(0, len(spent) - MOST_ENTRIES),
    }


def spending_of(given: Mapping[str, Any]) -> SpendingParameters:
    """What a form has sent, checked. A comma in an amount or a number is a decimal one.

    >>> sent = spending_of({"product": "tables", "epsilon": "0,5", "columns": ["2"], "low-2": "0", "high-2": "99"})
    >>> sent.epsilon, sent.columns, sent.high
    ('0.5', [2], {2: 99.0})
    """
    sent: dict[str, Any] = {name: {} for name in TYPED}
    for name, value in given.items():
        field, _, number = name.partition("-")
        if field in TYPED and number:
            sent[field][number] = value if field == "values" else _number(str(value))
        elif field in ("epsilon", "delta"):
            sent[name] = str(value).strip().replace(",", ".")
        else:
            sent[name] = value
    return SpendingParameters.checked(sent)


def _number(text: str) -> str:
    """A number with a point; refused if its comma or point may part thousands: a bound a thousand times too small would be paid for.

    >>> _number("0,125"), _number("100000"), _number("12,5")
    ('0.125', '100000', '12.5')
    """
    if THOUSANDS.fullmatch(text.strip()):
        raise InvalidParameter(
            "the smallest or the largest number of a column can be read with thousands and with decimals",
            remedy="write thousands without a sign between them, such as 100000",
        )
    return text.replace(",", ".")


def job_of(case: Case, spending: SpendingParameters) -> tuple[str, GuaranteeParameters]:
    """The kind of job that a form asks for, with its parameters: the same as over the interface."""
    policy = policy_of(case)
    terms: dict[str, Any] = {
        "epsilon": spending.epsilon,
        "delta": _delta(spending),
        "max_rows": spending.max_rows,
        **({"person": policy.person} if policy.person else {"unit": "record"}),
        "bounds": {},
        "keys": {},
    }
    names, sought = [], []
    artificial = spending.product == "artificial"
    for number in spending.columns:
        column = column_at(case, number)
        names.append(column["name"])
        if artificial and column["storage"] in NUMBERS and number not in {*spending.low, *spending.high}:
            sought.append(column["name"])
        elif column["storage"] in NUMBERS:
            terms["bounds"][column["name"]] = _bounds(column["name"], spending, number)
        elif values := [
            value.strip() for value in spending.values.get(number, "").split(";") if value.strip()
        ]:
            terms["keys"][column["name"]] = values
    if not artificial:
        return "tabulate", TabulateParameters.checked({**terms, "tables": [names]})
    if terms["delta"] is None:
        raise InvalidParameter("artificial people need a delta", remedy="give a small one such as 1e-6")
    more = {"columns": names, "find_bounds": sought, "per_person": spending.per_person}
    return "synthesize", SynthesizeParameters.checked({**terms, **more})


def _delta(spending: SpendingParameters) -> str | None:
    """A delta of nought is none."""
    if spending.delta is None or not exact(spending.delta, "delta", zero=True, below_one=True):
        return None
    return spending.delta


def _bounds(name: str, spending: SpendingParameters, number: int) -> tuple[float, float]:
    if number not in spending.low or number not in spending.high:
        raise InvalidParameter(
            Sentence("{name} needs the smallest and the largest number that it may have", name=name),
            remedy="give what is known without the table, or leave the column out",
        )
    return spending.low[number], spending.high[number]


def foreseen(case: Case, spending: SpendingParameters) -> tuple[Foresight, CountNoise, int]:
    """What a form would spend: what it would mean, how far counts would be away, and of how many rows. Nothing is spent."""
    kind, parameters = job_of(case, spending)
    delta = parameters.delta or "0"
    balance = ledger_beside(case.source, case.folder).balance()
    made = parameters if isinstance(parameters, SynthesizeParameters) else None
    whole = made is not None and made.per_person
    paid = kind == "synthesize" and any(
        column_at(case, number)["storage"] == "text" and not spending.values.get(number, "").strip()
        for number in spending.columns
    )
    noise = foresee_noise(
        spending.product,
        len(spending.columns) + whole,
        parameters.epsilon,
        delta,
        max_rows=1 if whole else parameters.max_rows,
        paid_values=paid,
        found_bounds=len(made.find_bounds) if made else 0,
    )
    rows = int(columns_document(case)["table"]["rows"])
    return foresee_amount(balance, parameters.epsilon, delta), noise, rows
