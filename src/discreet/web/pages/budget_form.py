"""The budget on the page: what is left, what it went to, and what a filled form would spend an amount on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, get_args

from discreet.dp.amounts import exact, said
from discreet.dp.coding import number_bins
from discreet.dp.foresight import (
    AskedFigure,
    Foresight,
    foresee_amount,
    foresee_classifier,
    foresee_figure,
    foresee_noise,
)
from discreet.dp.ledger import Balance
from discreet.dp.statement import unit_of
from discreet.engine.question import name_in_question, parse_question
from discreet.errors import DiscreetError, InvalidParameter
from discreet.sentences import Sentence
from discreet.web.api.parameters import (
    AskParameters,
    GuaranteeParameters,
    LearnParameters,
    SpendingParameters,
    SynthesizeParameters,
    TabulateParameters,
)
from discreet.web.budgets import ledger_beside
from discreet.web.cases import Case
from discreet.web.form_fields import THOUSANDS
from discreet.web.policies import column_at, column_named, columns_document, columns_of, policy_of
from discreet.web.refusals import explain
from discreet.web.service import Service

FIRST_EPSILON, FIRST_DELTA = "1", "1e-6"
"""What is proposed as a budget."""
MOST_AT_ONCE = Fraction(1, 2)
"""So much is proposed to be spent at once, if so much is left."""
MOST_ENTRIES = 8
"""So many amounts that were spent are listed, the newest."""
TYPED = ("low", "high", "values")
"""What is typed for each column."""
NUMBERS, CODED = ("integer", "float"), ("text", "integer", "float", "boolean")
"""How columns are stored that need bounds, and those that can be counted at all."""
MOST_KEYS = 1000
"""So many whole numbers of a column may be groups of an answer."""
FIGURES = {"sum": "sum", "mean": "avg", "median": "median"}
"""How a question calls what is made of the numbers of a column."""
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
        "figures": [figure for figure in get_args(AskedFigure) if figure != "persons" or policy.person],
        "columns": [
            {
                "number": number,
                "name": column["name"],
                "kind": "number" if column["storage"] in NUMBERS else column["storage"],
                "measured": column["storage"] in NUMBERS and column["type"] in ("integer", "continuous"),
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
    return JOBS[spending.product](case, spending, terms)


def _artificial(case: Case, spending: SpendingParameters, terms: Content) -> tuple[str, GuaranteeParameters]:
    """Artificial people; what is not given is found."""
    names, sought = [], []
    for number in spending.columns:
        column = column_at(case, number)
        names.append(column["name"])
        if column["storage"] in NUMBERS and number not in {*spending.low, *spending.high}:
            sought.append(column["name"])
        else:
            _know(column, spending, number, terms)
    if terms["delta"] is None:
        raise InvalidParameter("artificial people need a delta", remedy="give a small one such as 1e-6")
    more = {"columns": names, "find_bounds": sought, "per_person": spending.per_person}
    return "synthesize", SynthesizeParameters.checked({**terms, **more})


def _table(case: Case, spending: SpendingParameters, terms: Content) -> tuple[str, GuaranteeParameters]:
    """One table of counts, of which everything is given."""
    names = [_given_column(case, spending, number, terms) for number in spending.columns]
    return "tabulate", TabulateParameters.checked({**terms, "tables": [names]})


def _classifier(case: Case, spending: SpendingParameters, terms: Content) -> tuple[str, GuaranteeParameters]:
    """A classifier of one column by the others that are chosen, of which everything is given."""
    if spending.label is None:
        raise InvalidParameter("it is not said what is predicted", remedy="choose a column")
    label = _given_column(case, spending, spending.label, terms)
    chosen = [number for number in spending.columns if number != spending.label]
    names = [_given_column(case, spending, number, terms) for number in chosen]
    if not names:
        raise InvalidParameter(
            "a classifier needs at least one column, each once, besides the label and the person id",
            remedy="name other columns",
        )
    if spending.learner == "logistic-regression" and terms["delta"] is None:
        raise InvalidParameter("gradients need a delta", remedy="give one such as 1e-6, or take naive Bayes")
    more = {"label": label, "columns": names, "learner": spending.learner}
    return "learn", LearnParameters.checked({**terms, **more})


def _answer(case: Case, spending: SpendingParameters, terms: Content) -> tuple[str, GuaranteeParameters]:
    """A question: one figure by the columns that are chosen. Groups whose keys are not given are found, for a delta."""
    names, unnamed = [], False
    for number in spending.columns:
        column = column_at(case, number)
        names.append(column["name"])
        if column["storage"] in NUMBERS:
            terms["keys"][column["name"]] = _whole_numbers(column["name"], spending, number)
        elif column["storage"] == "boolean":
            terms["keys"][column["name"]] = [False, True]
        else:
            _know(column, spending, number, terms)
            unnamed = unnamed or column["name"] not in terms["keys"]
    if unnamed and terms["delta"] is None:
        raise InvalidParameter(
            "groups that are not given are found for a delta",
            remedy="give the values of the columns, or a small delta such as 1e-6",
        )
    question = _question(case, spending, names, terms)
    more = {"question": question, "max_groups": spending.max_groups}
    parse_question(question)
    return "ask", AskParameters.checked({**terms, **more, "delta": terms["delta"] if unnamed else None})


def _question(case: Case, spending: SpendingParameters, names: list[str], terms: Content) -> str:
    """The question that a form asks, in the words of `discreet ask`."""
    if spending.figure in FIGURES:
        if spending.of is None:
            raise InvalidParameter("it is not said of which column", remedy="choose a column of numbers")
        name = column_at(case, spending.of)["name"]
        terms["bounds"][name] = _bounds(name, spending, spending.of)
        figure = f"{FIGURES[spending.figure]}({name_in_question(name)})"
    elif spending.figure == "persons":
        if "person" not in terms:
            raise InvalidParameter("no column says whose rows they are", remedy="count rows")
        figure = f"count(distinct {name_in_question(terms['person'])})"
    else:
        figure = "count(*)"
    keys = ", ".join(map(name_in_question, names))
    # In brackets, so that a condition is one.
    condition = f" where ({spending.only.strip()})" if spending.only.strip() else ""
    return (
        f"select {keys}, {figure} from data{condition} group by {keys}"
        if names
        else f"select {figure} from data{condition}"
    )


def _whole_numbers(name: str, spending: SpendingParameters, number: int) -> list[int]:
    """The whole numbers between two ends, each of which is a group."""
    low, high = _bounds(name, spending, number)
    if not (low.is_integer() and high.is_integer() and 0 <= high - low < MOST_KEYS):
        raise InvalidParameter(
            Sentence("the groups of {name} are no whole numbers, or too many", name=name),
            remedy=Sentence("give two whole numbers, at most {most:,} apart", most=MOST_KEYS),
        )
    return list(range(int(low), int(high) + 1))


def _given_column(case: Case, spending: SpendingParameters, number: int, terms: Content) -> str:
    """The name of a column, after what was said of it was entered; refused if its values are not said."""
    column = column_at(case, number)
    name = str(column["name"])
    _know(column, spending, number, terms)
    if name not in terms["bounds"] and name not in terms["keys"] and column["storage"] != "boolean":
        raise InvalidParameter(
            Sentence("the values of {name} are not given", name=name),
            remedy="give them by keys, or leave the column out",
        )
    return name


def _know(column: Content, spending: SpendingParameters, number: int, terms: Content) -> None:
    """Enter what was said of a column: bounds of numbers, or values."""
    if column["storage"] in NUMBERS:
        terms["bounds"][column["name"]] = _bounds(column["name"], spending, number)
    elif values := [value.strip() for value in spending.values.get(number, "").split(";") if value.strip()]:
        terms["keys"][column["name"]] = values


JOBS: dict[str, Callable[[Case, SpendingParameters, Content], tuple[str, GuaranteeParameters]]] = {
    "artificial": _artificial,
    "tables": _table,
    "answer": _answer,
    "classifier": _classifier,
}
"""What each product is made by."""


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


def foreseen(case: Case, spending: SpendingParameters) -> tuple[Foresight, Sentence]:
    """What a form would spend: what it would mean, and how far what comes out would be away. Nothing is spent."""
    _, parameters = job_of(case, spending)
    balance = ledger_beside(case.source, case.folder).balance()
    unit = unit_of(parameters.person)
    foresight = foresee_amount(balance, parameters.epsilon, parameters.delta or "0", unit=unit)
    return foresight, _noise(case, spending, parameters)


def asked_question(case: Case, spending: SpendingParameters) -> str:
    """The question that a form asks, or nothing if it asks for something else."""
    _, parameters = job_of(case, spending)
    return parameters.question if isinstance(parameters, AskParameters) else ""


def _noise(case: Case, spending: SpendingParameters, parameters: GuaranteeParameters) -> Sentence:
    """How far what comes out would be from what is true, in words; of as many rows as the table has."""
    rows = int(columns_document(case)["table"]["rows"])
    delta = parameters.delta or "0"
    if isinstance(parameters, AskParameters):
        of = None if spending.figure not in FIGURES else column_at(case, spending.of or 0)
        noise = foresee_figure(
            spending.figure,
            parameters.epsilon,
            max_rows=parameters.max_rows if parameters.person else 1,
            max_groups=parameters.max_groups if parameters.person and spending.columns else 1,
            bounds=parameters.bounds[of["name"]] if of else (0, 1),
            whole=of is not None and of["type"] == "integer",
            found_groups=parameters.delta is not None,
        )
        return noise.said(rows)
    if isinstance(parameters, LearnParameters):
        return foresee_classifier(
            parameters.learner,
            len(parameters.columns or ()),
            _labels(case, parameters),
            parameters.epsilon,
            delta,
            max_rows=parameters.max_rows,
        )
    made = parameters if isinstance(parameters, SynthesizeParameters) else None
    whole = made is not None and made.per_person
    paid = made is not None and any(
        column_at(case, number)["storage"] == "text" and not spending.values.get(number, "").strip()
        for number in spending.columns
    )
    return foresee_noise(
        "artificial" if made else "tables",
        len(spending.columns) + whole,
        parameters.epsilon,
        delta,
        max_rows=1 if whole else parameters.max_rows,
        paid_values=paid,
        found_bounds=len(made.find_bounds) if made else 0,
    ).said(rows)


def _labels(case: Case, parameters: LearnParameters) -> int:
    """How many labels a classifier tells apart."""
    if (values := parameters.keys.get(parameters.label)) is not None:
        return len(set(values))
    if (ends := parameters.bounds.get(parameters.label)) is None:
        return 2
    whole = column_named(case, parameters.label)["type"] == "integer"
    return number_bins(parameters.label, *ends, parameters.bins, whole=whole).bins
