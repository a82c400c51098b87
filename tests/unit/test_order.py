"""The order of rows: random unless kept on purpose, following from the released rows alone, and tried by an attack."""

from __future__ import annotations

import stat
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import discreet
from discreet.errors import DiscreetError, InvalidParameter
from discreet.policy import Policy
from discreet.policy.plan import Method, Plan
from discreet.privacy import KAnonymity
from discreet.release.links import read_links
from discreet.release.pairing import make_pair


def patients(rows: int = 400, seed: int = 3) -> pa.Table:
    """Every tenth person is the only one in a far town, so that some are suppressed."""
    rng = np.random.default_rng(seed)
    towns = np.where(np.arange(rows) % 10, rng.choice(["Aachen", "Bonn", "Celle"], rows), "far")
    return pa.table(
        {
            "name": [f"patient {n}" for n in range(rows)],
            "age": rng.integers(20, 80, rows),
            "town": towns,
            "ill": [f"illness {n % 97}" for n in rng.permutation(rows)],
        }
    )


def policy(k: int = 5) -> Policy:
    return Policy.of(
        quasi_identifiers=["age", "town"],
        sensitive=["ill"],
        direct_identifiers=["name"],
    ).require(KAnonymity(k))


def released(table: pa.Table, **wanted: object) -> discreet.Release:
    return discreet.anonymize(table, policy(), plan=Plan(**{"method": "mondrian", **wanted}))  # type: ignore[arg-type]


def rows_of(release: discreet.Release) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in release.table.engine.to_arrow(release.table).to_pylist()]


# ── the release ──────────────────────────────────────────────────────────────────────────────────────


def test_whoever_holds_the_list_in_the_same_order_reads_nothing_off() -> None:
    people = patients()
    release = released(people)
    assert release.after.rows == 400
    shown = release.table.engine.to_arrow(release.table)["ill"].to_pylist()
    right = sum(own == read for own, read in zip(people["ill"].to_pylist(), shown, strict=True))
    assert right < 20, "one of 97 illnesses is right by chance"
    kept = released(people, order="kept")
    assert kept.table.engine.to_arrow(kept.table)["ill"].to_pylist() == people["ill"].to_pylist()


def test_the_order_follows_from_the_released_rows_alone() -> None:
    """The original in any order gives the same file: there is nothing in it that a seed could undo."""
    people = patients()
    turned = people.take(pa.array(np.random.default_rng(8).permutation(400)))
    first = rows_of(released(people))
    assert first == rows_of(released(people)), "two runs give one file"
    assert first == rows_of(released(turned))
    other = rows_of(released(people, seed=2))
    assert other != first
    assert Counter(other) == Counter(first)


def test_a_column_that_was_left_out_does_not_show_in_the_order() -> None:
    """A weight that singles people out is dropped; rows that agree in all that is left may stand either way."""
    people = patients().append_column("weight", pa.array([1.0 + n / 1000 for n in range(400)]))
    known = policy().replace(weight="weight")
    plan = Plan(method="mondrian")
    first = discreet.anonymize(people, known, plan=plan)
    assert "weight" not in first.table.names
    other = people.set_column(4, "weight", pa.array([2.0 - n / 1000 for n in range(400)]))
    assert rows_of(first) == rows_of(discreet.anonymize(other, known, plan=plan))


def test_keeping_the_order_is_said() -> None:
    assert any("in the order of the original" in note for note in released(patients(), order="kept").notes)
    assert not any("order" in note for note in released(patients()).notes)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["optimal", "local", "clustering", "microaggregation"])
def test_links_lead_from_each_row_to_its_own(method: Method) -> None:
    people = patients()
    release = released(people, method=method, suppression_limit=1.0)
    assert len(set(release.links.tolist())) == release.after.rows <= 400
    ill = np.array(people["ill"].to_pylist())[release.links]
    assert ill.tolist() == release.table.engine.to_arrow(release.table)["ill"].to_pylist()
    assert not any("place" in name or "row" in name for name in release.table.names)


def test_links_lead_through_a_sample_to_the_whole_table() -> None:
    people = patients()
    release = released(people, sample=0.5)
    ill = np.array(people["ill"].to_pylist())[release.links]
    assert ill.tolist() == release.table.engine.to_arrow(release.table)["ill"].to_pylist()
    assert discreet.compare(people, release, labels=[]).paired.rows is not None  # type: ignore[union-attr]


def test_a_recipe_gives_the_same_order() -> None:
    release = released(patients(), method="optimal", suppression_limit=1.0)
    applied = discreet.apply(release.recipe, patients(), policy())
    assert rows_of(applied) == rows_of(release)


# ── files of links ───────────────────────────────────────────────────────────────────────────────────


def test_links_are_written_only_on_demand_and_for_the_owner_alone(tmp_path: Path) -> None:
    release = released(patients())
    release.save(tmp_path / "release.csv", report=tmp_path / "report.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["release.csv", "report.html"]
    links = tmp_path / "links.csv"
    links.write_text("older")
    links.chmod(0o644)
    release.save(tmp_path / "release.csv", links=links)
    assert stat.S_IMODE(links.stat().st_mode) == 0o600
    assert read_links(links, released=400, original=400).tolist() == release.links.tolist()
    first = pyarrow.csv.read_csv(links).to_pylist()[0]
    assert first == {"released": 1, "original": release.links[0] + 1}


@pytest.mark.slow
def test_two_files_and_their_links_tell_as_much_as_the_release_in_memory(tmp_path: Path) -> None:
    people = patients()
    release = released(people)
    saved = release.save(tmp_path / "release.parquet", links=tmp_path / "links.csv")
    in_memory = discreet.compare(people, release, policy(), labels=[])
    assert "in memory" in in_memory.matched
    by_file = discreet.compare(people, saved, policy(), links=tmp_path / "links.csv", labels=[])
    assert by_file.losses.to_dict() == in_memory.losses.to_dict()
    unlinked = discreet.compare(people, saved, policy(), labels=[])
    assert "not matched" in unlinked.matched or "class by class" in unlinked.matched
    assert unlinked.paired is not None
    assert unlinked.paired.rows is None


@pytest.mark.parametrize(
    "text",
    ["", "a,b\n1,1\n", "released,original\n1\n", "released,original\n2,1\n1,2\n", "released,original\n1,x\n"],
)
def test_what_is_no_file_of_links_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "links.csv"
    file.write_text(text)
    with pytest.raises(DiscreetError, match="links"):
        read_links(file, released=2, original=3)


@pytest.mark.parametrize("places", [[0, 0], [0, 3], [-1, 0], [0], [0.5, 1.0]])
def test_links_that_cannot_be_are_refused(places: list[float]) -> None:
    with pytest.raises(InvalidParameter, match="links"):
        read_links(np.array(places), released=2, original=3)


def test_links_of_another_release_are_refused() -> None:
    people = patients()
    release = released(people)
    rows = release.table.engine.to_arrow(release.table)
    with pytest.raises(InvalidParameter, match="not those of these tables"):
        discreet.compare(people, rows, policy(), links=release.links[::-1].copy(), labels=[])


def test_another_original_is_not_matched_by_links_in_memory() -> None:
    people = patients()
    release = released(people)
    turned = people.take(pa.array(np.arange(400)[::-1]))
    paired = make_pair(discreet.read(turned), release.table, policy())
    assert "in memory" not in paired.matched


# ── matching by values, whatever the order ───────────────────────────────────────────────────────────


@pytest.mark.slow
def test_a_shuffled_release_is_matched_class_by_class_where_its_values_leave_one_way(tmp_path: Path) -> None:
    people = patients()
    release = released(people, method="optimal", suppression_limit=1.0)
    rows = release.table.engine.to_arrow(release.table)
    alone = make_pair(discreet.read(people), discreet.read(rows), policy())
    linked = make_pair(discreet.read(people), release.table, policy())
    assert "class by class" in alone.matched
    assert alone.pair.links is not None
    assert linked.pair.links is not None
    for part in ("original", "released", "records"):
        assert getattr(alone.pair.links, part).tolist() == getattr(linked.pair.links, part).tolist()
    assert alone.pair.kept == linked.pair.kept == {"ill"}


# ── the attack ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.slow
@pytest.mark.parametrize("method", ["optimal", "mondrian", "local", "clustering", "microaggregation"])
def test_order_links_everybody_where_it_is_kept_and_nobody_where_it_is_random(method: Method) -> None:
    people = patients()
    kept = released(people, method=method, suppression_limit=1.0, order="kept")
    leak = discreet.attack(kept, original=people, attacks=["order"]).result("order")
    assert leak.better_than_baseline
    assert leak.rate > 0.95
    mixed = released(people, method=method, suppression_limit=1.0)
    safe = discreet.attack(mixed, original=people, attacks=["order"]).result("order")
    assert not safe.better_than_baseline
    assert safe.tries == leak.tries
    assert safe.baseline == pytest.approx(leak.baseline)


def test_order_within_classes_links_as_well() -> None:
    """A release that was sorted by its values, with the order kept among equals, tells as much."""
    people = patients()
    kept = released(people, order="kept")
    rows = kept.table.engine.to_arrow(kept.table)
    sorting = np.lexsort((np.arange(400), rows["town"].to_pylist(), rows["age"].to_pylist()))
    result = discreet.attack(
        rows.take(pa.array(sorting)), policy(), original=people, links=sorting, attacks=["order"]
    ).result("order")
    assert result.successes == 400


@pytest.mark.slow
def test_random_orders_beat_the_baseline_about_as_often_as_chance_does() -> None:
    people = patients(200)
    kept = released(people, order="kept")
    rows = kept.table.engine.to_arrow(kept.table)
    beaten, rates = 0, []
    for seed in range(60):
        order = np.random.default_rng(seed).permutation(200)
        result = discreet.attack(
            rows.take(pa.array(order)), policy(), original=people, links=order, attacks=["order"]
        ).result("order")
        beaten += result.better_than_baseline
        rates.append(result.rate)
    assert beaten <= 6
    assert float(np.mean(rates)) == pytest.approx(result.baseline, rel=0.25)


def test_without_links_the_attack_says_what_it_lacks() -> None:
    people = patients()
    rows = released(people).table.engine.to_arrow(released(people).table)
    found = discreet.attack(rows, policy(), original=people, attacks=["order"])
    assert not found.results
    assert "give the links" in found.untested[0].why


def test_a_sample_drawn_by_the_seed_that_everybody_knows_says_so() -> None:
    """The same seed draws the same places of the same number of rows, whatever stands there."""
    table = pa.table({"age": [30 + i % 4 for i in range(400)], "row": [i % 2 for i in range(400)]})
    policy = Policy.of(quasi_identifiers=["age"], require=[KAnonymity(3)], profile="research-partner-3")

    def drawn(rows: pa.Table, seed: int) -> tuple[set[int], tuple[str, ...]]:
        release = discreet.anonymize(rows, policy, plan=Plan(sample=0.5, seed=seed))
        return set(release.links.tolist()), release.notes

    other = table.set_column(0, "age", pa.array([50 + i % 3 for i in range(400)]))
    public, notes = drawn(table, Plan().seed)
    assert public == drawn(other, Plan().seed)[0]
    assert any("the default seed, which everybody knows" in note for note in notes)
    secret, notes = drawn(table, 8_430_127)
    assert secret != public
    assert not any("seed" in note for note in notes)
