"""Recognise the kind of a column from its name: by whole words, so that ``message`` is not an ``age``."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Final, NamedTuple

from discreet.table.identifiers import vocabulary
from discreet.table.identifiers.kinds import KINDS

_GERMAN: Final = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss", "#": " nr "}
)
_BOUNDARY: Final = re.compile(
    r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])|(?<=[0-9])(?=[A-Za-z])|[^A-Za-z0-9]+"
)
_NUMBER_ENDING: Final = re.compile(r"(?P<what>[a-z]{3,}?)(?:nummer|number|nr)")
_LONGEST_PHRASE: Final = 6


class NameMatch(NamedTuple):
    """A kind that the name of a column speaks for."""

    kind: str
    confidence: float


def fold(text: str) -> str:
    """Text without umlauts and accents, so that it compares the same however it was written.

    >>> fold("Straße"), fold("Müller"), fold("José")
    ('Strasse', 'Mueller', 'Jose')
    """
    if text.isascii() and "#" not in text:
        return text
    composed = unicodedata.normalize("NFC", text).translate(_GERMAN)
    return unicodedata.normalize("NFKD", composed).encode("ascii", "ignore").decode("ascii")


def tokens(name: str) -> tuple[str, ...]:
    """The words of a column's name, in lower case, with one spelling for "number".

    >>> tokens("Geb_Dat"), tokens("IPAddress"), tokens("Zip Code - 3 digits")
    (('geb', 'dat'), ('ip', 'address'), ('zip', 'code', '3', 'digits'))
    >>> tokens("Kontonummer"), tokens("patient_nbr"), tokens("num_of_prev_attempts")
    (('konto', 'number'), ('patient', 'number'), ('num', 'of', 'prev', 'attempts'))
    """
    words = [word.lower() for word in _BOUNDARY.split(fold(name)) if word]
    parts: list[str] = []
    for position, word in enumerate(words):
        # "no" and "num" mean a number only after the thing that is numbered
        at_end = position == len(words) - 1 and position > 0
        if word in ("nummer", "nr", "nbr") or (at_end and word in ("num", "no")):
            parts.append("number")
        elif ending := _NUMBER_ENDING.fullmatch(word):
            parts += [ending["what"], "number"]
        else:
            parts.append(word)
    return tuple(parts)


def names_a_person(name: str) -> bool:
    """Whether the name says that the column numbers persons, so that equal values mean the same person.

    >>> [names_a_person(name) for name in ("id_student", "patient_nbr", "userId", "encounter_id", "age")]
    [True, True, True, False, False]
    """
    words = tokens(name)
    if any(word in vocabulary.PERSON_WORDS for word in words) and any(
        word in vocabulary.NUMBER_WORDS for word in words
    ):
        return True
    return any(_glued_person_id(word) for word in words) or "matrikel" in words


def names_staff(name: str) -> bool:
    """Whether the name says that the column numbers persons who may be those that serve the people of the table.

    >>> [names_staff(name) for name in ("doctor_id", "patient_id")]
    [True, False]
    """
    return names_a_person(name) and not vocabulary.STAFF_WORDS.isdisjoint(tokens(name))


def names_a_household(name: str) -> bool:
    """Whether the name says that the column numbers households, whose members are several persons.

    >>> [names_a_household(name) for name in ("ori_hid", "household_id", "hhid", "household_size", "id_student")]
    [True, True, True, False, False]
    """
    words = tokens(name)
    glued = {"hid", "hhid", "hhnum", "hhnr"}
    numbered = any(word in vocabulary.NUMBER_WORDS for word in words)
    return any(word in glued or (numbered and word in vocabulary.HOUSEHOLD_WORDS) for word in words)


def match_name(name: str) -> list[NameMatch]:
    """The kinds that the name of a column speaks for, best first.

    >>> [match.kind for match in match_name("Geburtsdatum")], match_name("message_count")
    (['birth-date'], [])
    """
    words = tokens(name)
    best, taken = _phrases(words)
    for word, used in zip(words, taken, strict=True):
        for kind in () if used else _compound(word):
            best[kind] = max(best.get(kind, 0.0), 0.75)
    identifier = _identifier(words, taken, others=bool(best))
    if identifier > 0:
        best["unique-id"] = max(best.get("unique-id", 0.0), identifier)
    if (words and words[-1] in vocabulary.MARKERS_AT_END and not taken[-1]) or (
        len(words) > 1 and words[0] in vocabulary.MARKERS_AT_START and not taken[0]
    ):
        best = {kind: value for kind, value in best.items() if KINDS[kind].role != "direct-identifier"}
    # what only may be meant counts for nothing beside what surely is: "street name" is not a person's name
    least = 0.5 if max(best.values(), default=0.0) >= 0.7 else 0.0
    matches = [NameMatch(kind, round(value, 3)) for kind, value in best.items() if value >= least]
    return sorted(matches, key=lambda match: -match.confidence)


def _phrases(words: tuple[str, ...]) -> tuple[dict[str, float], list[bool]]:
    """The kinds of the phrases in a name, longest phrases first, and which words they use up."""
    taken = [False] * len(words)
    best: dict[str, float] = {}
    for length in range(min(len(words), _LONGEST_PHRASE), 0, -1):
        # from the right: the last word is the head of a compound, "hospital county" is a county
        for start in range(len(words) - length, -1, -1):
            whole = length == len(words)
            if any(taken[start : start + length]):
                continue
            if not whole and length == 1 and words[start] in vocabulary.PERSON_WORDS:
                continue
            entries = _lookup("".join(words[start : start + length]))
            if entries is None:
                continue
            taken[start : start + length] = [True] * length
            for kind, certain in entries:
                confidence = _confidence(kind, certain=certain, whole=whole, words=words)
                head = 0.02 * (start + length) / len(words)
                best[kind] = max(best.get(kind, 0.0), confidence + head)
    return best, taken


def _compound(word: str) -> list[str]:
    """The kinds of a word written together: ``custname``, and German compounds by their last part."""
    kinds = ["name"] if _glued(word, ("name",)) else []
    # "fnlwgt", and with the unit behind it "pwgtp"
    if len(word) > 4 and "wgt" in word[-4:]:
        kinds.append("sampling-weight")
    if 3 < len(word) < 8 and word.endswith("job"):
        kinds.append("occupation")
    long = len(word) > 4 and word not in vocabulary.NO_MONEY
    if long and (word.endswith(vocabulary.MONEY_ENDS) or word.startswith("tax")):
        kinds.append("income")
    for last in vocabulary.GERMAN_HEADS:
        if len(word) > len(last) + 2 and word.endswith(last):
            kinds += [kind for kind, _ in _lookup(last) or ()]
    return kinds


def _confidence(kind: str, *, certain: bool, whole: bool, words: tuple[str, ...]) -> float:
    if certain:
        return 0.9 if whole else 0.75
    if kind == "name" and words == ("name",):
        return 0.8
    if kind == "name":
        # "utility name" names anything; "applicant's name" names a person
        if whole:
            return 0.6
        return 0.85 if any(word in vocabulary.PERSON_WORDS for word in words) else 0.35
    if kind == "income" and any(word in vocabulary.PERIODS for word in words):
        return 0.75
    return 0.55 if whole else 0.4


def _identifier(words: tuple[str, ...], taken: list[bool], *, others: bool) -> float:
    """How much the name speaks for a number that identifies a person or an event of one."""
    if any(_glued_person_id(word) for word in words):
        return 0.9
    if not any(word in vocabulary.NUMBER_WORDS for word, used in zip(words, taken, strict=True) if not used):
        # "patient id" is taken as a medical record number too, and stays an identifier of a person
        numbered = any(word in vocabulary.NUMBER_WORDS for word in words)
        return 0.9 if numbered and "patient" in words else 0.0
    if any(word in vocabulary.PERSON_WORDS for word in words):
        return 0.9
    if any(word in vocabulary.EVENT_WORDS for word in words):
        return 0.8
    if len(words) == 1:
        return 0.6
    return 0.0 if others else 0.4


def _glued_person_id(word: str) -> bool:
    return _glued(word, ("id", "uid", "key"))


def _glued(word: str, ends: tuple[str, ...]) -> bool:
    """Whether a word is one for a person with one of the endings written against it: ``custid``."""
    return any(word.endswith(end) and word[: -len(end)] in vocabulary.PERSON_WORDS for end in ends)


def _lookup(joined: str) -> tuple[tuple[str, bool], ...] | None:
    index = _index()
    kinds = index.get(joined)
    if kinds is None and len(joined) > 4 and joined.endswith("s"):
        kinds = index.get(joined[:-1])
    return kinds


@cache
def _index() -> dict[str, tuple[tuple[str, bool], ...]]:
    """From the joined words of a phrase to its kinds; no kind for what is known not to be personal."""
    index: dict[str, tuple[tuple[str, bool], ...]] = {
        "".join(tokens(phrase)): () for phrase in vocabulary.NOT_PERSONAL.split(", ")
    }
    for certain, table in ((True, vocabulary.CERTAIN), (False, vocabulary.LIKELY)):
        for kind, phrases in table.items():
            for phrase in phrases.split(", "):
                key = "".join(tokens(phrase))
                index[key] = (*index.get(key, ()), (kind, certain))
    return index
