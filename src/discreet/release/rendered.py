"""Results of verbs as text, HTML and charts: the one place in this room that knows how they are shown."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module


def _late(place: str) -> Callable[..., str]:
    """``module:name`` below `discreet.reports`, imported when it is called: reports import this room."""
    module, name = place.split(":")

    def show(*args: object, **options: object) -> str:
        text: str = getattr(import_module(f"discreet.reports.{module}"), name)(*args, **options)
        return text

    return show


audit_text = _late("audit.terminal:as_text")
audit_notebook = _late("audit.html:notebook")
release_notebook = _late("release.html:notebook_release")
write_release_report: Callable[..., object] = _late("release.html:release_report")
comparison_text = _late("evidence.terminal:comparison_as_text")
comparison_notebook = _late("evidence.html:notebook_comparison")
attacks_text = _late("evidence.terminal:attacks_as_text")
attacks_notebook = _late("evidence.html:notebook_attacks")
verdict_text = _late("audit.terminal:verdict_as_text")
verdict_notebook = _late("audit.terminal:verdict_as_html")
release_text = _late("release.terminal:release_as_text")
advice_text = _late("release.terminal:advice_as_text")
advice_notebook = _late("release.terminal:advice_as_html")
families_text = _late("families:families_as_text")
families_chart = _late("families:chart_of_families")
frontier_text = _late("evidence.terminal:frontier_as_text")
frontier_notebook = _late("evidence.terminal:frontier_as_html")
difference_text = _late("release.difference:difference_as_text")
difference_notebook = _late("release.difference:difference_as_html")
frontier_chart = _late("charts.points:chart_of_settings")
