"""What attacks on random releases come to, against plain loops over their rows."""

from __future__ import annotations

from pathlib import Path

import plain_attacks as attacks
import pyarrow as pa
import pytest
from plain_attacks import PlainRelease, Told, random_release, table_of
from plain_downcoding import downcoding, random_local
from plain_inference import attribute_inference
from plain_likelihood import probabilistic_linkage, random_likelihood
from plain_losses import TREES
from plain_tables import TABLES

import discreet
from discreet.privacy import KAnonymity, LDiversity

COUNTED = {
    "record-linkage": attacks.record_linkage,
    "worst-case": attacks.worst_case,
    "membership": attacks.membership,
    "homogeneity": attacks.homogeneity,
    "skewness": attacks.skewness,
    "background-knowledge": attacks.background_knowledge,
    "similarity": attacks.similarity,
}


@pytest.fixture(scope="module")
def trees(trees: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The trees as hierarchy files, and one of the diseases."""
    diseases = tmp_path_factory.mktemp("trees") / "disease.csv"
    diseases.write_text(
        "".join(f"{leaf};{kind};*\n" for leaf, kind in attacks.KINDS.items()), encoding="utf-8"
    )
    return trees | {"disease": diseases}


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile that asks for nothing."""
    profile = tmp_path_factory.mktemp("profile") / "bare.toml"
    profile.write_text(
        'title = "Nothing but the policy"\ndescription = "None."\nsource = "none"\ndate = 2026-01-01\n',
        encoding="utf-8",
    )
    return profile


def attacked(
    release: PlainRelease,
    trees: dict[str, Path],
    names: list[str],
    *,
    public: bool = False,
    key: str | None = "nr",
    sensitive: str = "disease",
) -> discreet.Attacks:
    used = {name: path for name, path in trees.items() if name in (*TREES, sensitive)}
    policy = discreet.Policy.of(quasi_identifiers=tuple(TREES), sensitive=[sensitive]).generalise(used)
    released, original = table_of(release.released).to_arrow(), table_of(release.original).to_arrow()
    if key is None:
        released, original = released.drop(["nr", "pay"]), original.drop(["nr", "pay"])
    return discreet.attack(
        released,
        policy,
        original=original,
        public=table_of(release.public).to_arrow() if public else None,
        control=table_of(release.control).to_arrow(),
        known=release.known,
        attacks=names,
        key=key,
    )


def agree(result: discreet.AttackResult, told: Told) -> None:
    assert result.tries == pytest.approx(told.tries), result.attack
    assert result.successes == pytest.approx(told.successes), result.attack
    assert result.baseline == pytest.approx(told.baseline), result.attack
    assert result.low <= result.rate + 1e-9, result.attack
    assert result.rate <= result.high + 1e-9, result.attack


@pytest.mark.parametrize("seed", range(TABLES))
def test_every_attack_is_what_the_definition_says(seed: int, trees: dict[str, Path]) -> None:
    release = random_release(seed)
    results = attacked(release, trees, [*COUNTED, "singling-out"])
    ran = {result.attack for result in results.results}
    for name, definition in COUNTED.items():
        told = definition(release)
        if name in ran:
            agree(results.result(name), told)
        else:
            few = len({row["disease"] for row in release.released}) < 3
            assert told.tries == 0 or (name == "background-knowledge" and few), name
    told, isolated = attacks.singling_out(release)
    agree(results.result("singling-out"), told)
    figures = dict(results.result("singling-out").figures)
    assert figures["isolated"] == pytest.approx(isolated)
    assert figures["isolated-and-right"] == pytest.approx(told.successes / told.tries)


@pytest.mark.parametrize("seed", range(TABLES))
def test_a_journalist_finds_what_the_definition_says(seed: int, trees: dict[str, Path]) -> None:
    release = random_release(seed)
    agree(
        attacked(release, trees, ["record-linkage"], public=True).result("record-linkage"),
        attacks.public_linkage(release),
    )


@pytest.mark.parametrize("seed", range(TABLES))
def test_without_a_key_nothing_looks_safer_than_it_is(seed: int, trees: dict[str, Path]) -> None:
    release = random_release(seed)
    results = attacked(release, trees, ["record-linkage", "singling-out", "homogeneity"], key=None)
    linked, (alone, _) = attacks.record_linkage(release), attacks.singling_out(release)
    assert results.result("record-linkage").successes >= linked.successes - 1e-9
    assert results.result("singling-out").successes >= alone.successes - 1e-9


@pytest.mark.parametrize("seed", range(TABLES))
def test_numbers_that_are_close_are_what_the_definition_says(seed: int, trees: dict[str, Path]) -> None:
    release = random_release(seed)
    told = attacks.proximity(release)
    results = attacked(release, trees, ["proximity"], sensitive="pay").results
    if told.tries:
        agree(results[0], told)
    else:
        assert results == ()


@pytest.mark.parametrize("seed", range(TABLES))
def test_the_nearest_records_are_what_the_definition_says(seed: int) -> None:
    noise = attacks.random_noise(seed)
    policy = discreet.Policy.of(quasi_identifiers=["age", "town"])
    results = discreet.attack(
        pa.Table.from_pylist(noise.released),
        policy,
        original=pa.Table.from_pylist(noise.original),
        attacks=["record-linkage", "singling-out"],
        key="nr",
    )
    linked, alone = attacks.distance_linkage(noise)
    agree(results.result("distance-linkage"), linked)
    agree(results.result("singling-out"), alone)


@pytest.mark.parametrize("seed", range(TABLES))
def test_what_candidates_have_in_common_is_what_the_definition_says(
    seed: int, trees: dict[str, Path]
) -> None:
    visits = attacks.random_visits(seed)
    used = {name: path for name, path in trees.items() if name in TREES}
    policy = discreet.Policy.of(quasi_identifiers=tuple(TREES), sensitive=["place"], person="person")
    results = discreet.attack(
        pa.Table.from_pylist(visits.released),
        policy.generalise(used),
        original=pa.Table.from_pylist(visits.original),
        attacks=["areas-of-interest"],
        key="nr",
    )
    told, recall = attacks.areas_of_interest(visits)
    result = results.result("areas-of-interest")
    agree(result, told)
    assert dict(result.figures)["mean-recall"] == pytest.approx(recall)


@pytest.mark.parametrize("seed", range(TABLES))
def test_what_minimality_tells_is_what_the_definition_says(
    seed: int, trees: dict[str, Path], bare: Path
) -> None:
    release = attacks.random_levels(seed)
    policy = discreet.Policy.of(
        quasi_identifiers=tuple(TREES),
        sensitive=["disease"],
        require=[LDiversity(2, "disease")],
        profile=str(bare),
    ).generalise({name: path for name, path in trees.items() if name in TREES})
    released = [
        {**row, **dict(zip(release.levels, release.shown(row, release.levels), strict=True))}
        for row in release.original
    ]
    results = discreet.attack(
        pa.Table.from_pylist(released),
        policy,
        original=pa.Table.from_pylist(release.original),
        attacks=["minimality"],
    )
    result = results.result("minimality")
    told, surest, narrowed = attacks.minimality(release)
    agree(result, told)
    assert dict(result.figures)["max-credibility"] == pytest.approx(surest)
    assert dict(result.figures)["people-narrowed"] == narrowed


@pytest.mark.parametrize("seed", range(TABLES))
def test_what_cells_tell_beyond_what_they_print_is_what_the_definition_says(
    seed: int, trees: dict[str, Path], bare: Path
) -> None:
    original, released = random_local(seed)
    k = 2 + seed % 2
    policy = discreet.Policy.of(
        quasi_identifiers=tuple(TREES), sensitive=["disease"], require=[KAnonymity(k)], profile=str(bare)
    ).generalise({name: path for name, path in trees.items() if name in TREES})
    results = discreet.attack(
        pa.Table.from_pylist(released),
        policy,
        original=pa.Table.from_pylist(original),
        attacks=["downcoding"],
        key="nr",
    )
    told = downcoding(original, released, k)
    if told.tries:
        agree(results.result("downcoding"), told)
    else:
        assert results.results == ()


@pytest.mark.parametrize("seed", range(TABLES))
def test_the_most_likely_record_is_what_the_definition_says(seed: int, trees: dict[str, Path]) -> None:
    original, released, known = random_likelihood(seed)
    policy = discreet.Policy.of(quasi_identifiers=("age", *TREES))
    results = discreet.attack(
        pa.Table.from_pylist(released),
        policy.generalise({name: path for name, path in trees.items() if name in TREES}),
        original=pa.Table.from_pylist(original),
        attacks=["probabilistic-linkage"],
        known=known,
        key="nr",
    )
    agree(results.result("probabilistic-linkage"), probabilistic_linkage(original, released, known))


@pytest.mark.parametrize("seed", range(TABLES))
def test_what_a_model_of_the_release_guesses_is_what_the_definition_says(
    seed: int, trees: dict[str, Path]
) -> None:
    release = random_release(seed)
    results = attacked(release, trees, ["attribute-inference"])
    told, base, without = attribute_inference(release)
    result = results.result("attribute-inference-naive-bayes")
    agree(result, told)
    assert dict(result.figures)["base-rate"] == pytest.approx(base)
    assert dict(result.figures)["without-target"] == pytest.approx(without)
