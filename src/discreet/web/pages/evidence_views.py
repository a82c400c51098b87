"""What the page shows of losses, attacks and a frontier: the tables and pictures of the report as plain data."""

from __future__ import annotations

from discreet.attacks.scenario import SCENARIOS
from discreet.release import legal
from discreet.release.attack import Attacks
from discreet.release.compare import Comparison
from discreet.release.frontier import Frontier
from discreet.release.outcome import Outcome
from discreet.reports.charts.points import chart_of_settings
from discreet.reports.evidence import loss_tables
from discreet.reports.evidence import pictures as evidence_pictures
from discreet.reports.evidence import tables as evidence_tables
from discreet.reports.evidence.html import judgement, key_figures
from discreet.reports.figures import Picture
from discreet.reports.words import number, percent
from discreet.web.pages.release_views import data, drawn, without_style


def evidence(comparison: Comparison, attacks: Attacks) -> dict[str, object]:
    """The three criteria, what each attack came to, what was lost and what can still be learned."""
    shapes: list[Picture | None] = [
        evidence_pictures.loss_and_exposure(comparison, attacks, public=False),
        evidence_pictures.moved(comparison, public=False),
        evidence_pictures.relations(comparison),
    ]
    return data(
        {
            **judgement(attacks),
            "criteria": evidence_tables.criteria(attacks, public=False),
            "criteria_source": legal.SOURCE,
            "tolerated": f"{legal.TOLERATED:.0%}",
            "key_figures": key_figures(comparison, attacks, public=False),
            "scenario": {
                "name": attacks.scenario.name,
                "known": list(attacks.scenario.known),
                "title": attacks.scenario.preset.title,
                "says": attacks.scenario.preset.says,
                "source": attacks.scenario.preset.source,
            },
            "attacks": evidence_tables.attack_groups(attacks, public=False),
            "untested": evidence_tables.untested(attacks, public=False),
            "losses": loss_tables.losses(comparison, public=False),
            "learning": loss_tables.learning(comparison, public=False),
            "kpis": loss_tables.kpis(comparison, public=False),
            "analyses": loss_tables.analyses(comparison, public=False),
            "pictures": [drawn(picture, "evidence") for picture in shapes if picture is not None],
            "notes": list(dict.fromkeys((*comparison.notes, *attacks.notes))),
        }
    )


def frontier(result: Frontier) -> dict[str, object]:
    """The chart and its points; the number of a point is its place in the result."""
    return data(
        {
            "svg": without_style(chart_of_settings(result, inside=True)),
            "points": [_point(place, point) for place, point in enumerate(result.points)],
        }
    )


def _point(place: int, point: Outcome) -> dict[str, object]:
    return {
        "place": place,
        "method": point.method,
        "setting": point.label.removesuffix(point.method).strip(),
        "loss": "" if point.loss is None else percent(point.loss),
        "suppressed": "" if point.suppressed_share is None else percent(point.suppressed_share),
        "mean_risk": "" if point.mean_risk is None else percent(point.mean_risk),
        "max_risk": "" if point.max_risk is None else percent(point.max_risk),
        "inference": "" if point.inference is None else percent(point.inference),
        "classes": "" if point.classes is None else number(point.classes),
        "failed": point.failed,
        "best": point.best,
        "chosen": point.chosen,
        "knee": point.knee,
    }


def scenarios() -> list[dict[str, str]]:
    """Every kind of intruder, in words."""
    return [
        {"name": preset.name, "title": preset.title, "says": preset.says, "source": preset.source}
        for preset in SCENARIOS.values()
    ]
