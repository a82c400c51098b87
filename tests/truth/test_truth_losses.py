"""What a comparison says of random releases, against plain loops over their rows."""

from __future__ import annotations

from pathlib import Path

import plain_losses as losses
import pyarrow as pa
import pytest
from plain_losses import TREES, PlainPair, random_pair
from plain_tables import TABLES

import discreet

OVERALL = {
    "suppression-ratio": losses.suppression_ratio,
    "average-class-size": losses.average_class_size,
    "normalised-average-class-size": losses.normalised_average_class_size,
    "discernibility": losses.discernibility,
    "normalised-discernibility": losses.normalised_discernibility,
    "leaf-loss": losses.leaf_loss,
    "height-loss": losses.height_loss,
    "certainty-penalty": losses.certainty_penalty,
    "iloss": losses.iloss,
    "minimal-distortion": losses.minimal_distortion,
    "generalisation-height": losses.generalised_cells,
    "ambiguity": losses.ambiguity,
    "entropy-information-loss": losses.entropy_information_loss,
    "conditional-entropy": losses.conditional_entropy,
    "monotone-entropy": losses.monotone_entropy,
    "non-uniform-entropy": losses.non_uniform_entropy,
    "joint-kl-divergence": losses.joint_kl_divergence,
}
SHARES = {
    "conditional-entropy-share": losses.conditional_entropy,
    "monotone-entropy-share": losses.monotone_entropy,
    "non-uniform-entropy-share": losses.non_uniform_entropy,
}
GAINS = {
    "knowledge-gain-additive": losses.knowledge_gain_additive,
    "knowledge-gain-multiplicative": losses.knowledge_gain_multiplicative,
    "accuracy-gain": losses.accuracy_gain,
    "min-entropy-leakage": losses.min_entropy_leakage,
    "worst-case-privacy-loss": losses.worst_case_privacy_loss,
}
DISTRIBUTIONS = {
    "total-variation": losses.total_variation,
    "hellinger": losses.hellinger,
    "js-divergence": losses.js_divergence,
}


def compared(pair: PlainPair, trees: dict[str, Path]) -> discreet.Comparison:
    policy = discreet.Policy.of(quasi_identifiers=tuple(TREES), sensitive=["disease"]).generalise(trees)
    original, released = (
        table.to_arrow().append_column("nr", pa.array(range(len(table.rows))))
        for table in (pair.original, pair.released)
    )
    return discreet.compare(original, released, policy, key="nr", labels=[], queries=1)


@pytest.mark.parametrize("seed", range(TABLES))
def test_every_loss_is_what_the_definition_says(seed: int, trees: dict[str, Path]) -> None:
    pair = random_pair(seed)
    measured = compared(pair, trees).losses
    bits = losses.total_entropy(pair)
    expected = {name: loss(pair) for name, loss in (OVERALL | GAINS).items()}
    expected |= {name: loss(pair) / bits for name, loss in SHARES.items()}
    for name, value in expected.items():
        attribute = "disease" if name in GAINS else None
        assert measured.measure(name, attribute).value == pytest.approx(value, abs=1e-9), name
    for name, loss in DISTRIBUTIONS.items():
        for attribute in TREES:
            value = loss(pair, attribute)
            assert measured.measure(name, attribute).value == pytest.approx(value, abs=1e-9), (
                name,
                attribute,
            )


@pytest.mark.parametrize("seed", range(TABLES))
def test_sets_and_intervals_are_penalised_for_what_they_are(seed: int) -> None:
    """Without a hierarchy nothing is measured by one that nobody named."""
    rows, released = losses.random_sets(seed)
    original = pa.table({name: [row[name] for row in rows] for name in ("city", "age")})
    release = pa.table({name: [row[name] for row in released] for name in ("city", "age")})
    policy = discreet.Policy.of(quasi_identifiers=["city", "age"])
    measured = discreet.compare(original, release, policy, labels=[], queries=1).losses
    expected = {
        "certainty-penalty": losses.mean_share(rows, released, lambda m, n, _: m / n if m > 1 else 0.0),
        "leaf-loss": losses.mean_share(rows, released, lambda m, n, _: (m - 1) / (n - 1)),
        "iloss": losses.mean_share(rows, released, lambda m, n, star: 1.0 if star else (m - 1) / n),
        "interval-loss": losses.interval_width(rows, released),
    }
    for name, value in expected.items():
        assert measured.measure(name).value == pytest.approx(value, abs=1e-9), name
    for name in ("height-loss", "minimal-distortion"):
        for attribute in ("city", "age"):
            notes = " ".join(measured.measure(name, attribute).notes)
            assert "there is no hierarchy" in notes or f"levels of {attribute} are those" in notes
