"""Baskets: counted by plain loops, released by every method, and attacked by whoever knows a few items."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from itertools import combinations, permutations, product
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import discreet
from discreet.baskets import Baskets
from discreet.baskets.disassociation import Cluster, disassociated
from discreet.baskets.exposure import audit_baskets
from discreet.baskets.goal import BasketGoal
from discreet.baskets.release import Method, anonymize_baskets
from discreet.baskets.suppression import suppressed
from discreet.baskets.uncertainty import surest
from discreet.cli import cli
from discreet.errors import DiscreetError, GoalUnreachable, InvalidParameter, RequirementNotMet
from discreet.table.hierarchies.hierarchy import Hierarchy
from helpers.profiles import tries

LISTS = st.lists(st.sets(st.sampled_from("abcdef"), min_size=1, max_size=4), min_size=4, max_size=25)
SHOP = [["milk", "bread"], ["milk", "bread"], ["milk", "bread", "gin"], ["milk", "rum"], ["bread", "rum"]]


def supports(lists: list[set[str]], m: int) -> Counter[frozenset[str]]:
    """In how many baskets each set of at most m items stands, by the definition."""
    counts: Counter[frozenset[str]] = Counter()
    for basket in lists:
        for size in range(1, m + 1):
            counts.update(map(frozenset, combinations(sorted(basket), size)))
    return counts


# ── judging ───────────────────────────────────────────────────────────────────────────────────────


def test_hand_made_baskets() -> None:
    """Gin stands in one basket; milk and rum, bread and rum in one each: three baskets are exposed, by three smallest sets."""
    audit = audit_baskets(Baskets.of(SHOP), k=2, m=2)
    assert not audit.holds
    assert audit.exposed == 3
    assert audit.exposing == ((("gin",), 1), (("bread", "rum"), 1), (("milk", "rum"), 1))
    one, two = audit.by_known
    assert (one.itemsets, one.rare, one.least, one.exposed) == (4, 1, 1, 1)
    assert (two.itemsets, two.rare, two.least, two.exposed) == (5, 4, 1, 3)
    # Milk and bread stand in four baskets each, rum in two, gin in one.
    picked = [1 / 4, 1 / 4, (1 / 4 + 1 / 4 + 1) / 3, (1 / 4 + 1 / 2) / 2, (1 / 4 + 1 / 2) / 2]
    assert one.success == pytest.approx(sum(picked) / 5)


@given(LISTS, st.integers(2, 4), st.integers(1, 3))
def test_the_audit_is_what_plain_loops_say(lists: list[set[str]], k: int, m: int) -> None:
    audit = audit_baskets(Baskets.of(lists), k=k, m=m)
    counts = supports(lists, m)
    rare = {items for items, count in counts.items() if count < k}
    assert audit.holds == (not rare)
    assert audit.exposed == sum(any(items <= basket for items in rare) for basket in lists)
    smallest = {items for items in rare if not any(other < items for other in rare)}
    assert {frozenset(items): count for items, count in audit.exposing} == {i: counts[i] for i in smallest}
    for known in audit.by_known:
        of_size = [count for items, count in counts.items() if len(items) == known.known]
        assert (known.itemsets, known.rare) == (len(of_size), sum(count < k for count in of_size))


@given(LISTS, st.integers(1, 2))
def test_the_surest_guess_is_what_plain_loops_say(lists: list[set[str]], m: int) -> None:
    baskets = Baskets.of(lists)
    sensitive = frozenset(baskets.items[:2])
    best = 0.0
    for item in sensitive:
        for size in range(m + 1):
            for known in combinations(sorted(set(baskets.items) - {item}), size):
                holders = [basket for basket in lists if basket >= set(known)]
                if holders:
                    best = max(best, sum(item in basket for basket in holders) / len(holders))
    assert surest(baskets, sensitive, m) == pytest.approx(best)


def test_many_items_are_counted_without_a_counter_for_each_set(monkeypatch: pytest.MonkeyPatch) -> None:
    baskets = Baskets.of(SHOP)
    dense = audit_baskets(baskets, k=2, m=3)
    monkeypatch.setattr("discreet.baskets.itemsets.DENSE", 0)
    monkeypatch.setattr("discreet.baskets.itemsets.CHUNK", 2)
    assert audit_baskets(baskets, k=2, m=3) == dense


def test_no_more_sensitive_items_are_left_out_than_must_be() -> None:
    """Ten of nineteen baskets hold it, each of another length, and all nineteen hold f0: one of the ten is one too many."""
    common = [f"f{at}" for at in range(10)]
    lists = [["pills", *common[:size]] for size in range(1, 11)] + [common] * 9
    goal = BasketGoal(1, 1, frozenset({"pills"}), 0.5)
    baskets = Baskets.of(lists)
    left = baskets.without(suppressed(baskets, goal, frequent_first=True))
    assert surest(left, goal.sensitive, 1) <= 0.5
    assert left.support()[left.items.index("pills")] == 9


# ── releasing ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("method", ["auto", "generalize", "suppress"])
@given(lists=LISTS, k=st.integers(2, 4), m=st.integers(1, 3))
def test_what_is_released_keeps_what_was_asked_for(
    method: str, lists: list[set[str]], k: int, m: int
) -> None:
    try:
        release = anonymize_baskets(Baskets.of(lists), k=k, m=m, method=method)  # type: ignore[arg-type]
    except GoalUnreachable:
        assert method != "auto"
        return
    assert release.released is not None
    shown = [set(basket) for basket in release.released.lists()]
    assert min(supports(shown, m).values()) >= k
    # Nothing is invented: each shown basket is one of the original's with items left out or in groups.
    if release.method == "suppress":
        assert all(any(basket <= original for original in lists) for basket in shown)
    members = {label: set(items) for label, items in release.codebook.items()}
    assert all(
        any(all(original & members.get(item, {item}) for item in basket) for original in lists)
        for basket in shown
    )


@given(LISTS, st.sampled_from([0.3, 0.5]))
def test_nobody_guesses_a_sensitive_item_more_surely(lists: list[set[str]], rho: float) -> None:
    baskets = Baskets.of(lists)
    sensitive = frozenset(baskets.items[:1])
    try:
        release = anonymize_baskets(baskets, k=2, m=2, sensitive=sensitive, rho=rho)
    except GoalUnreachable:
        return
    assert release.released is not None
    left = release.released
    assert surest(left, sensitive & set(left.items), 2) <= rho + 1e-9


def test_auto_takes_what_loses_less() -> None:
    baskets = Baskets.of(SHOP * 3 + [["gin", "tonic"], ["rum", "cola"]])
    losses = {
        method: anonymize_baskets(baskets, k=2, m=2, method=method).loss.certainty  # type: ignore[arg-type]
        for method in ("auto", "generalize", "suppress")
    }
    assert losses["auto"] == min(losses.values())  # type: ignore[type-var]


def test_a_given_hierarchy_names_the_groups() -> None:
    tree = Hierarchy.of(
        "item",
        [["bread", "food", "*"], ["gin", "spirits", "*"], ["milk", "food", "*"], ["rum", "spirits", "*"]],
    )
    release = anonymize_baskets(Baskets.of(SHOP), k=2, m=1, method="generalize", hierarchy=tree)
    assert release.released is not None
    assert next(release.released.lists()) == ["bread", "milk"]
    assert release.codebook == {"spirits": ("gin", "rum")}
    # Three of eleven occurrences are shown as one of two of four items: (2 - 1) / (4 - 1) each.
    assert release.loss.certainty == pytest.approx(3 / 3 / 11)


# ── disassociation ────────────────────────────────────────────────────────────────────────────────


@given(LISTS, st.integers(2, 3), st.integers(1, 2))
def test_clusters_keep_all_items_and_what_was_asked_for(lists: list[set[str]], k: int, m: int) -> None:
    baskets, goal = Baskets.of(lists), BasketGoal(k, m)
    made = disassociated(baskets, goal, lambda step: None)
    assert sum(cluster.size for cluster in made.clusters) == len(lists)
    assert all(cluster.keeps(goal) for cluster in made.clusters)
    assert {item for *_, item in made.rows()} == set(baskets.items)


@tries(40)
@given(st.lists(st.sets(st.sampled_from("abcd"), min_size=1), min_size=2, max_size=4))
def test_who_knows_two_items_cannot_exclude_that_k_baskets_hold_them(lists: list[set[str]]) -> None:
    """All ways to put the parts of a cluster together: for what is known of somebody, one of them has k baskets with it."""
    goal = BasketGoal(2, 2)
    made = disassociated(Baskets.of(lists), goal, lambda step: None)
    (cluster,) = made.clusters
    possible = list(possible_baskets(cluster, made.items))
    for basket in lists:
        for known in combinations(sorted(basket), min(2, len(basket))):
            most = max(sum(set(known) <= drawn for drawn in way) for way in possible)
            assert most >= 2


def possible_baskets(cluster: Cluster, items: tuple[str, ...]) -> list[list[set[str]]]:
    """Every table of non-empty baskets that fits a cluster."""
    places = range(cluster.size)
    ways: list[list[set[str]]] = []
    for orders in product(*(list(permutations(places, len(chunk))) for chunk in cluster.chunks)):
        made: list[set[str]] = [set() for _ in places]
        for chunk, order in zip(cluster.chunks, orders, strict=True):
            for part, at in zip(chunk, order, strict=True):
                made[at] |= {items[item] for item in part}
        holders_of_named = [at for n in range(1, cluster.size + 1) for at in combinations(places, n)]
        for holders in product(holders_of_named, repeat=len(cluster.named)):
            filled = [set(basket) for basket in made]
            for item, at in zip(cluster.named, holders, strict=True):
                for place in at:
                    filled[place].add(items[item])
            if all(filled):
                ways.append(filled)
    return ways


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    file = tmp_path / "shop.csv"
    file.write_text("\n".join(",".join(items) for items in SHOP) + "\n\n", encoding="utf-8")
    return file


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    return result.exit_code, result.output


def test_the_whole_way_on_the_command_line(shop: Path, tmp_path: Path) -> None:
    assert run("baskets", "check", shop, "--k", 2)[0] == 1
    code, said = run("baskets", "audit", shop, "--k", 2)
    assert code == 0
    assert "3 of 5 baskets" in said
    assert "gin" not in said
    assert "gin" in run("baskets", "audit", shop, "--k", 2, "--itemsets", 3)[1]
    for method in ("auto", "suppress", "disassociate"):
        code, said = run(
            "baskets", "anonymize", shop, "-o", tmp_path / "out.csv", "--k", 2, "--method", method
        )
        assert code == 0, said
    assert (tmp_path / "out.csv").read_text().startswith("cluster,baskets,chunk,line,item\n")
    run(
        "baskets",
        "anonymize",
        shop,
        "-o",
        tmp_path / "out.csv",
        "--k",
        2,
        "--codebook",
        tmp_path / "code.csv",
    )
    assert run("baskets", "check", tmp_path / "out.csv", "--k", 2)[0] == 0
    assert (tmp_path / "code.csv").read_text().startswith("label,item\n")
    document = json.loads(run("baskets", "audit", shop, "--k", 2, "--json")[1])
    assert (document["holds"], document["exposed"]) == (False, 3)
    assert "gin" not in json.dumps(document)


def test_the_share_that_was_asked_for_is_told(shop: Path, tmp_path: Path) -> None:
    asked = ["-o", tmp_path / "out.csv", "--k", 1, "--sensitive", "gin", "--rho", 0.25]
    code, said = run("baskets", "anonymize", shop, *asked)
    assert code == 0, said
    assert "At most 25" in " ".join(said.split())


def test_sensitive_items_are_judged_in_a_file_as_well(shop: Path, tmp_path: Path) -> None:
    """Two of five baskets hold rum, one of four with milk, and one of four with bread: 40 % at most."""
    asked = ["--k", 1, "--m", 1, "--sensitive", "rum", "--rho"]
    assert run("baskets", "check", shop, *asked, 0.4)[0] == 0
    assert run("baskets", "check", shop, *asked, 0.2)[0] == 1
    code, said = run("baskets", "audit", shop, *asked, 0.2)
    assert code == 0
    assert "hold a given sensitive item" in said
    assert "No basket holds: tea" in run("baskets", "audit", shop, "--sensitive", "tea", "--rho", 0.5)[1]
    run(
        "baskets",
        "anonymize",
        shop,
        "-o",
        tmp_path / "out.csv",
        "--k",
        1,
        "--m",
        1,
        "--sensitive",
        "rum",
        "--rho",
        0.2,
    )
    assert run("baskets", "check", tmp_path / "out.csv", *asked, 0.2)[0] == 0


def test_a_table_with_a_row_per_item_is_the_same(shop: Path) -> None:
    rows = [{"visit": at, "bought": item} for at, items in enumerate(SHOP) for item in [*items, items[0]]]
    table = discreet.read(pa.Table.from_pylist(rows))
    of_rows, of_lines = Baskets.of_rows(table, "visit", "bought"), Baskets.read(shop)
    assert list(of_rows.lists()) == list(of_lines.lists())


def test_a_release_that_breaks_its_promise_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("discreet.baskets.recoding._holds", lambda *given: True)
    release = anonymize_baskets(Baskets.of(SHOP), k=2, m=2, method="generalize")
    with pytest.raises(RequirementNotMet):
        release.save(tmp_path / "out.csv")
    monkeypatch.setattr("discreet.baskets.disassociation._stays", lambda *given: True)
    more = [["milk", "tea"], ["bread", "tea"]]
    release = anonymize_baskets(Baskets.of((SHOP + more) * 2), k=3, m=2, method="disassociate")
    with pytest.raises(RequirementNotMet):
        release.save(tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_a_sensitive_item_that_begins_with_a_space_is_looked_for_in_the_file(tmp_path: Path) -> None:
    made = anonymize_baskets(Baskets.of([["bread", " pills"]] * 4), k=2, m=1)
    broken = dataclasses.replace(made, goal=BasketGoal(2, 1, frozenset({" pills"}), 0.3))
    with pytest.raises(RequirementNotMet):
        broken.save(tmp_path / "out.csv")


def test_a_byte_order_mark_is_no_part_of_the_first_item(tmp_path: Path) -> None:
    file = tmp_path / "shop.csv"
    file.write_text("milk,bread\nmilk\n", encoding="utf-8-sig")
    assert Baskets.read(file).items == ("bread", "milk")


@pytest.mark.parametrize("method", ["auto", "disassociate"])
def test_baskets_that_hold_nothing_are_none(method: str) -> None:
    with pytest.raises(GoalUnreachable, match="fewer baskets"):
        anonymize_baskets(Baskets.of([[], [], ["milk"]]), k=2, m=1, method=method)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "separator", "said"),
    [("out.csv.gz", ",", "plain text"), ("out.csv", "ab", "one character"), ("out.csv", "", "one character")],
)
def test_files_that_could_not_be_read_again_are_not_written(
    tmp_path: Path, name: str, separator: str, said: str
) -> None:
    release = anonymize_baskets(Baskets.of([["milk"]] * 2), k=2, m=1)
    with pytest.raises(InvalidParameter, match=said):
        release.save(tmp_path / name, separator=separator)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (b"", [], "holds no baskets"),
        (b"\n\n", [], "holds no baskets"),
        (b"\xff\xfe\x00m", [], "no text in utf-8"),
        (b'a,"b\n', [], "could not be read"),
        (b"a,b\n", ["--k", "3"], "fewer baskets than"),
        (b"a,b\n", ["--separator", "ab"], "one character"),
        (b"a,b\n" * 9, ["--rho", "0.5"], "go together"),
        (b"a,b\n" * 9, ["--rho", "0.5", "--sensitive", "c"], "no basket holds"),
        (b"a,b\n" * 9, ["--basket", "a"], "two columns"),
        (
            b"a,b\n" * 9,
            ["--rho", "0.5", "--sensitive", "a", "--method", "disassociate"],
            "leaving items out only",
        ),
    ],
)
def test_bad_input_is_one_clear_error(tmp_path: Path, content: bytes, options: list[str], said: str) -> None:
    file = tmp_path / "in.csv"
    file.write_bytes(content)
    result = CliRunner().invoke(
        cli, ["baskets", "anonymize", str(file), "-o", str(tmp_path / "out.csv"), *options]
    )
    assert result.exit_code in (1, 2), result.output
    assert said in str(result.exception) + result.output
    assert isinstance(result.exception, DiscreetError)
    assert not (tmp_path / "out.csv").exists()


def test_sets_that_are_too_many_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="too many to be counted"):
        audit_baskets(Baskets.of([map(str, range(400))]), k=2, m=6)


@pytest.mark.slow
def test_groceries(data_dir: Path) -> None:
    """9,835 baskets and 169 items, as its description says; a quarter of the baskets is told apart by two items."""
    baskets = Baskets.read(data_dir / "transactions" / "groceries.csv.gz")
    assert (len(baskets), len(baskets.items), len(baskets.codes)) == (9835, 169, 43367)
    release = anonymize_baskets(baskets, k=5, m=2)
    assert release.method == "generalize"
    assert release.after is not None
    assert release.after.holds
    assert release.loss.certainty is not None
    assert release.loss.certainty < 0.01
    assert release.before.exposed == 2286


@pytest.mark.parametrize("method", ["suppress", "generalize", "disassociate"])
def test_nobody_knows_more_items_than_a_basket_holds(tmp_path: Path, method: Method) -> None:
    """Each size up to m was counted, for hours."""
    sets = Baskets.of([["a", "b"], ["a", "b"], ["a"], ["a", "c"]])
    audit = audit_baskets(sets, k=2, m=10**15, sensitive=frozenset("b"), rho=0.9)
    assert (audit.m, audit.exposed, audit.surest) == (10**15, 1, 0.5)
    release = anonymize_baskets(sets, k=2, m=10**15, method=method)
    release.save(tmp_path / "out.csv")
    if method != "disassociate":
        assert audit_baskets(Baskets.read(tmp_path / "out.csv"), k=2, m=10**15).holds
