"""Whatever the core can show on the page has German words: by its registries and by its source."""

from __future__ import annotations

import ast
import json
import pickle
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("fastapi")

import discreet
from discreet.attacks.catalogue import ATTACKS, WHY_NOT
from discreet.attacks.scenario import SCENARIOS
from discreet.perturb.pram import Pram
from discreet.policy.plan import METHODS
from discreet.privacy.registry import MODELS, build_model
from discreet.release import legal
from discreet.release.profile import load_profile, profile_names
from discreet.release.verdict import WORDS
from discreet.reports.audit.html import KEY_MEASURES
from discreet.reports.charts.svg import Drawing
from discreet.reports.html import say
from discreet.reports.phrasebook import Language, Phrasebook, pairs, phrasebook, translate_drawing, words_of
from discreet.reports.words import MEASURES, percent, title_of
from discreet.risk.titles import TITLES as RISKS
from discreet.sentences import Sentence, dumps, fill, loads, places
from discreet.table.identifiers.content import _PATTERNS
from discreet.table.identifiers.kinds import KINDS
from discreet.table.identifiers.numbers import CHECKS
from discreet.utility.measures import MEASURES as LOSSES
from discreet.web.pages.language import translate
from discreet.web.pages.rendering import say as say_on_page

LINES = [(text, said) for _, text, said in pairs("de")]
SOURCE = Path(discreet.__file__).parent


def german(text: str, names: tuple[str, ...] = ()) -> str | None:
    return translate(text, "de", names)


def without_german(texts: object) -> list[str]:
    return sorted({text for text in texts if text and german(text) is None})  # type: ignore[attr-defined]


# ── the phrasebook itself ─────────────────────────────────────────────────────────────────────────


def test_every_place_is_on_both_sides_and_nothing_stands_twice() -> None:
    assert [(text, said) for text, said in LINES if set(places(text)) != set(places(said))] == []
    assert [text for text, times in Counter(text for text, _ in LINES).items() if times > 1] == []
    assert [text for text, said in LINES if not said.strip()] == []


def test_nothing_is_recognised_by_its_words() -> None:
    """Places have names, which only the sentence's maker gives: a language cannot ask for more than that."""
    assert [text for text, _ in LINES if any(name.isdecimal() for name in places(text))] == []
    assert german("3 of 4 conventional criteria do not hold.") is None


def test_nothing_is_translated_twice() -> None:
    """German words that are also English ones would be taken for such."""
    again = {said: german(said) for text, said in LINES if not places(text)}
    assert {said: twice for said, twice in again.items() if twice not in (None, said)} == {}


def test_numbers_are_german_and_names_stay() -> None:
    names = ("age", "low", "pay 1,000.5", "bread and butter")
    alone = Sentence(
        "Before, {before} of the records were alone in their class; now {now} are.",
        before=percent(0.5),
        now=percent(0.0001),
    )
    assert alone == "Before, 50.0% of the records were alone in their class; now under 0.1% are."
    assert german(alone) == (
        "Vorher waren 50,0\xa0% der Datensätze in ihrer Klasse allein; jetzt sind es unter 0,1\xa0%."
    )
    lost = Sentence("{column} lost most: {share} of its detail.", column="pay 1,000.5", share=percent(0.382))
    assert german(lost, names) == "pay 1,000.5 verlor am meisten: 38,2\xa0% seiner Genauigkeit."
    assert german("12,345") == "12.345"
    assert german("low", names) == "low"
    assert (
        german(Sentence("{names:and} lost nothing.", names=("age", "bread and butter")), names)
        == "Nichts verloren: age und bread and butter."
    )
    assert (
        german(Sentence("{names:and} lost nothing.", names=("bread and butter",)), names)
        == "Nichts verloren: bread and butter."
    )
    assert german("No such sentence.") is None
    assert translate("No such sentence.", "en") == "No such sentence."


@pytest.mark.parametrize(
    ("language", "begin"), [("en", "age lost most: 38.2%"), ("de", "age verlor am meisten: 38,2")]
)
def test_a_column_that_begins_a_sentence_keeps_its_small_letter(language: str, begin: str) -> None:
    lost = Sentence("{column} lost most: {share} of its detail.", column="age", share=percent(0.382))
    moved = Sentence(
        "{attribute} moved most: {value} of its values would have to change back.",
        attribute="geb. am",
        value=percent(0.2),
    )
    context: Any = {"language": language}
    assert say(context, lost, capital=True).startswith(begin)
    context["names"] = ()
    both = Sentence(
        "{most} {nothing}", most=lost, nothing=Sentence("{names:and} lost nothing.", names=("sex",))
    )
    assert say_on_page(context, both, capital=True).startswith(begin)
    followed = Sentence(
        "{followed}: the policy names no hierarchy, so levels are not defined, and sets and intervals count by the values in them",
        followed="age, sex",
    )
    assert say(context, followed, capital=True).startswith("age, sex")
    assert say(context, moved, capital=True)[:7] == "geb. am"
    assert say(context, Sentence("nothing is lost"), capital=True, plain=True)[0] == "N"


def test_the_words_of_a_drawing_are_translated_and_escaped() -> None:
    book = phrasebook("de")
    assert book is not None
    drawing = '<svg viewBox="0 0 90 40" width="100"><text text-anchor="end">Uniqueness</text><text>a &lt; b</text></svg>'
    assert translate_drawing(drawing, book) == (
        '<svg viewBox="-38 0 128 40" width="143"><text text-anchor="end">Einzigartigkeit</text><text>a &lt; b</text></svg>'
    )
    head = '<svg viewBox="0 0 90 40" width="100"><text transform="rotate(-40 27 -8)">low</text></svg>'
    longer = Phrasebook({"low": "ziemlich niedrig"})
    # Thirteen letters more, as wide as they are: 76 to the right and upwards.
    assert translate_drawing(head, longer).startswith('<svg viewBox="0 -76 166 116" width="185">')
    styled = head.replace('width="100"', 'style="min-width:90px;max-width:180px"')
    assert 'style="min-width:166px;max-width:332px"' in translate_drawing(styled, longer)
    hostile = Phrasebook({"low": "<b>"})
    assert "<b>" not in translate_drawing("<svg><text>low</text></svg>", hostile)


def test_the_words_of_a_drawing_with_places_are_said_by_their_template() -> None:
    """What a place holds may be hostile, and the exact number is for nobody but the phrasebook."""
    drawing = Drawing(40, 20)
    drawing.text(0, 0, Sentence("{name} lost {share:.0%}", name='"><b>', share=0.12345), "ink", anchor="end")
    drawing.text(0, 9, "low", "ink")
    drawn = drawing.inside()
    assert list(words_of(drawn)) == ['"><b> lost 12%', "low"]
    book = Phrasebook(
        {"{name} lost {share:.0%}": "{share} von {name}", "low": "niedrig"}, Language("Deutsch")
    )
    said = translate_drawing(drawn, book)
    assert ">12\xa0% von &quot;&gt;&lt;b&gt;</text>" in said
    assert ">niedrig</text>" in said
    for shown in (said, translate_drawing(drawn, None), drawing.standalone(title="loss")):
        assert "0.12345" not in shown
        assert "<b>" not in shown


def test_a_sentence_is_said_by_its_template() -> None:
    """Whatever stands in its places: nothing of it has to be recognised."""
    found = Sentence(
        "{columns:and} lost {share:.1%}; {why}", columns=("age", "low"), share=0.1234, why=Sentence("low")
    )
    book = Phrasebook(
        {found.template: "{why}: {share} von {columns}", "low": "niedrig"},
        Language("Deutsch", conjunction="und"),
    )
    assert found == "age and low lost 12.3%; low"
    assert book.translate(found) == "niedrig: 12,3\xa0% von age und low"
    assert book.translate(pickle.loads(pickle.dumps(found))) == book.translate(found)
    assert book.translate(loads(dumps([found]))[0]) == book.translate(found)
    assert json.dumps(found) == '"age and low lost 12.3%; low"'
    assert Phrasebook({}).translate(found) is None


def test_what_pram_guarantees_has_german() -> None:
    told = Pram(("sex",), keep=0.5).guarantee(pa.table({"sex": ["f", "m", None]}))
    assert german(told) == (
        "lokale Differential Privacy von sex mit ε = 0 unter den Werten, die vorkommen (welche fehlen, ist nicht geschützt)"
    )


# ── registries ────────────────────────────────────────────────────────────────────────────────────

PARAMETERS: dict[str, dict[str, object]] = {
    "k-anonymity": {"k": 5},
    "l-diversity": {"l": 3, "sensitive": "dx"},
    "multi-attribute-l-diversity": {"l": 3},
    "l-plus-diversity": {"sensitive": "dx", "thresholds": {"flu": 0.5}},
    "p-sensitivity": {"p": 2, "k": 3, "sensitive": "dx"},
    "p-plus-sensitivity": {"p": 2, "k": 3, "sensitive": "dx", "categories": {"flu": "a", "cold": "b"}},
    "p-alpha-sensitivity": {"p": 2, "alpha": 1.5, "k": 3, "sensitive": "dx", "weights": {"flu": 1.0}},
    "alpha-k-anonymity": {"alpha": 0.5, "k": 3, "sensitive": "dx"},
    "confidence-bounding": {"h": 0.5, "sensitive": "dx", "value": "flu"},
    "x-y-privacy": {"h": 0.5, "k": 3, "sensitive": "dx"},
    "c-k-safety": {"c": 0.5, "k": 2, "sensitive": "dx"},
    "t-closeness": {"t": 0.25, "sensitive": "dx"},
    "beta-likeness": {"beta": 1.0, "sensitive": "dx"},
    "delta-disclosure": {"delta": 1.0, "sensitive": "dx"},
    "k-map": {"k": 20},
    "delta-presence": {"delta": 0.2},
    "personalised-privacy": {"p": 0.5, "sensitive": "dx"},
    "k-e-anonymity": {"k": 3, "e": 1000.0, "sensitive": "pay"},
    "epsilon-m-anonymity": {"epsilon": 10.0, "m": 2, "sensitive": "pay"},
    "worst-group-protection": {"width": 10.0, "limit": 0.5, "sensitive": "pay"},
    "linked-k-anonymity": {"k": 5},
    "g-balance": {"g": 0.5},
    "h-affiliation": {"h": 0.5, "sensitive": "dx"},
}
VARIANTS: list[tuple[str, dict[str, object]]] = [
    ("l-diversity", {"l": 3, "sensitive": "dx", "kind": "entropy"}),
    ("l-diversity", {"l": 3, "sensitive": "dx", "kind": "simple"}),
    ("l-diversity", {"l": 3, "sensitive": "dx", "kind": "recursive", "c": 2.0}),
    ("multi-attribute-l-diversity", {"l": 3, "kind": "entropy"}),
    ("multi-attribute-l-diversity", {"l": 3, "kind": "simple"}),
    ("multi-attribute-l-diversity", {"l": 3, "kind": "recursive", "c": 2.0}),
    ("t-closeness", {"t": 0.25, "sensitive": "pay", "distance": "ordered"}),
    ("beta-likeness", {"beta": 1.0, "sensitive": "dx", "kind": "enhanced"}),
    ("alpha-k-anonymity", {"alpha": 0.5, "k": 3, "sensitive": "dx", "values": ["flu"]}),
    ("confidence-bounding", {"h": 0.5, "sensitive": "dx", "value": "flu", "given": ["age"]}),
    ("x-y-privacy", {"h": 0.5, "k": 3, "sensitive": "dx", "given": ["age"]}),
    ("k-anonymity", {"k": 5, "unit": "records"}),
    ("k-map", {"k": 20, "estimator": "poisson"}),
    ("k-map", {"k": 20, "estimator": "zero-truncated-poisson", "significance": 0.05}),
    ("h-affiliation", {"h": 0.5, "sensitive": "dx", "unit": "records"}),
    ("h-affiliation", {"h": 0.5, "sensitive": "dx", "harmless": ["none"]}),
]


def test_every_privacy_model_has_german() -> None:
    assert set(PARAMETERS) == set(MODELS)
    made = [build_model(name, given) for name, given in [*PARAMETERS.items(), *VARIANTS]]
    assert without_german(one.describe() for one in made) == []
    assert without_german(title_of(one.name) for one in made) == []


def registered() -> Iterator[str]:
    yield from WORDS.values()
    for name, wording in MEASURES.items():
        yield from (title_of(name), wording.says)
    yield from (title_of(name) for name in KEY_MEASURES)
    yield from RISKS.values()
    for kind in KINDS.values():
        yield kind.title
    yield from (one.title for one in (*CHECKS, *_PATTERNS))
    for name in profile_names():
        profile = load_profile(name)
        yield from (profile.title, profile.description)
    for preset in SCENARIOS.values():
        yield from (preset.title, preset.says)
    for attack in ATTACKS.values():
        yield from (attack.id, title_of(attack.id), attack.says, attack.criterion)
    yield from WHY_NOT.values()
    yield from (*legal.TITLES.values(), *legal.QUESTIONS.values())
    yield from ("gives way", "weakened", "withstood", "not tested")
    for loss in LOSSES.values():
        yield from (loss.definition.meaning, loss.definition.unit)
    yield from METHODS


def test_everything_that_is_registered_has_german() -> None:
    assert without_german(registered()) == []


# ── the source ────────────────────────────────────────────────────────────────────────────────────

EXAMPLES = (
    "control characters, which a spreadsheet cannot hold",
    "3",
    "50.0%",
    "age",
    "clustering",
    "generalise and suppress nothing",
    "the header",
    "table",
    "4 GB",
    "done",
)
"""What may stand in a place of a message; one of them has to do."""
READ_BY_PAGE = [
    *sorted((SOURCE / "web").rglob("*.py")),
    *(SOURCE / "engine" / f"{name}.py" for name in ("files", "sniff/bytes", "sniff/delimiters")),
    *(SOURCE / "release" / f"{name}.py" for name in ("requirements", "write")),
]


def calls(path: Path, named: frozenset[str]) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in named:
            yield node


def told(node: ast.expr, example: str) -> str | None:
    """The text of a literal, with an example in each of its places; ``None`` for anything else.

    A sentence with a template is looked at by itself (``test_every_template_has_german``).
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = [
            part.value if isinstance(part, ast.Constant) else _quoted(part, example)  # type: ignore[arg-type]
            for part in node.values
        ]
        return "".join(map(str, parts))
    return None


def _quoted(part: ast.FormattedValue, example: str) -> str:
    if isinstance(part.value, ast.IfExp) and isinstance(part.value.body, ast.Constant):
        return str(part.value.body.value)
    if part.format_spec is not None:
        return "3"
    return f"'{example}'" if part.conversion == ord("r") else example


def templates() -> dict[str, str]:
    """Every template from which a sentence is made, and where."""
    return {
        call.args[0].value: f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in sorted(SOURCE.rglob("*.py"))
        for call in calls(path, frozenset({"Sentence"}))
        if call.args and isinstance(call.args[0], ast.Constant) and call.keywords
    }


def test_every_template_has_german() -> None:
    book = phrasebook("de")
    assert book is not None
    made = templates()
    assert len(made) > 250
    unknown = {
        template: place
        for template, place in made.items()
        if template not in book.phrases and fill(template, lambda name, form: "").strip(" ;:,.()−→±+-")
    }
    assert unknown == {}


def lacking(nodes: list[ast.expr]) -> list[str]:
    found = []
    for node in nodes:
        forms = {text for example in EXAMPLES if (text := told(node, example))}
        if forms and not any(german(text) for text in forms):
            found.append(sorted(forms)[0])
    return found


def test_whatever_is_said_while_working_has_german() -> None:
    rooms = ("policy", "release", "search", "attacks", "utility", "risk", "web")
    files = [path for room in rooms for path in sorted((SOURCE / room).rglob("*.py"))]
    nodes = [
        call.args[0] for path in files for call in calls(path, frozenset({"say", "progress"})) if call.args
    ]
    assert len(nodes) > 50
    assert lacking(nodes) == []


ERRORS = frozenset(
    {
        "Refusal",
        "UnreadableInput",
        "EmptyTable",
        "InvalidParameter",
        "GoalUnreachable",
        "ProblemDetails",
        "not_found",
    }
)


def test_whatever_is_told_about_a_file_or_a_request_has_german() -> None:
    nodes: list[ast.expr] = []
    for path in READ_BY_PAGE:
        for call in calls(path, ERRORS):
            skipped = {"Refusal": 2, "ProblemDetails": 1}.get(call.func.id, 0)  # type: ignore[attr-defined]
            nodes += [
                *call.args[skipped:],
                *(one.value for one in call.keywords if one.arg in ("remedy", "nearest")),
            ]
    assert len(nodes) > 80
    assert lacking(nodes) == []


@pytest.mark.parametrize(
    "error",
    [
        discreet.errors.UnknownColumn("zipp", ["age", "zip"]),
        discreet.errors.UnreadableInput(
            Sentence("there is no file {name}", name="nowhere.csv"), remedy="check the path"
        ),
    ],
)
def test_errors_of_the_reference_have_german(error: discreet.DiscreetError) -> None:
    assert german(error.message) is not None
    assert german(error.remedy) is not None
