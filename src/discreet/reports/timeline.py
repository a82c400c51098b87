"""How the risk of the people of a register accumulates, as a picture with its numbers and in the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from discreet.register.timeline import Timeline, TimelinePoint
from discreet.reports.charts import timeline as chart
from discreet.reports.charts.svg import Drawing
from discreet.reports.figures import Picture
from discreet.reports.words import percent
from discreet.sentences import Sentence

TITLE = "What all releases together leave open"
SOURCE = "Ganta, Kasiviswanathan and Smith, Composition attacks and auxiliary information in data privacy, KDD 2008"
EXPLANATION = (
    "Each column is a release, laid over all before it. Red: people of whom a single sensitive value is left possible; whoever "
    "knows them knows it. Amber: two values are left."
)
LEGEND = ("one value is left", "two values are left")
AXES = ("no.", "people so far")
COLUMNS = (
    "no.",
    "when",
    "people so far",
    "one value is left",
    "already by one release",
    "two values are left",
)


def picture(timeline: Timeline) -> Picture | None:
    """The timeline as a picture; none if no release was entered with its people."""
    if not timeline.points:
        return None
    last = timeline.points[-1]
    return Picture(
        id="timeline",
        title=TITLE,
        takeaway=takeaway(timeline),
        alternative=Sentence(
            "{releases:,} columns, one for each release: the share of people of whom one value is left is "
            "{first} at the first and {last} at the last.",
            releases=len(timeline.points),
            first=_share(timeline.points[0].one, timeline.points[0]),
            last=_share(last.one, last),
        ),
        explanation=EXPLANATION,
        svg=drawing(timeline).inside(),
        columns=COLUMNS,
        rows=tuple(
            (
                str(point.number),
                point.time[:10],
                f"{point.people:,}",
                f"{point.one:,}",
                f"{point.alone:,}",
                f"{point.two:,}",
            )
            for point in timeline.points
        ),
        source=SOURCE,
        note=_left_out(timeline),
    )


def takeaway(timeline: Timeline) -> str:
    """What the timeline comes to, in one sentence."""
    last = timeline.points[-1]
    if not last.one:
        return Sentence(
            "What was released so far ({releases:,}) leaves everybody at least two possible values.",
            releases=len(timeline.points),
        )
    return Sentence(
        "What was released so far ({releases:,}) leaves {share} of {people:,} people a single possible value; for {alone:,} of "
        "these {one:,} one release alone does.",
        releases=len(timeline.points),
        share=_share(last.one, last),
        people=last.people,
        alone=last.alone,
        one=last.one,
    )


def drawing(timeline: Timeline) -> Drawing:
    """A column for each release."""
    return chart.timeline(
        [
            chart.TimelineColumn(
                str(point.number),
                point.one / max(1, point.people),
                point.two / max(1, point.people),
                _share(point.one, point),
            )
            for point in timeline.points
        ],
        axes=AXES,
        legend=LEGEND,
    )


def show_timeline(timeline: Timeline) -> RenderableType:
    """The numbers of the timeline, a line per release, and what they come to."""
    grid = Grid(box=box.SIMPLE_HEAD, header_style="dim")
    for head in COLUMNS:
        grid.add_column(head, overflow="fold")
    for point in timeline.points:
        grid.add_row(
            *(str(point.number), point.time[:10]),
            *(f"{number:,}" for number in (point.people, point.one, point.alone, point.two)),
        )
    said = [takeaway(timeline)] if timeline.points else ["No release was entered with its people."]
    return Group(grid, *(Text(line) for line in (*said, _left_out(timeline)) if line))


def _share(people: int, point: TimelinePoint) -> Sentence:
    return percent(people / max(1, point.people))


def _left_out(timeline: Timeline) -> str:
    if not timeline.unjudged:
        return ""
    return Sentence(
        "Left out are {count:,} releases that were entered without their people, or with another key than the newest.",
        count=len(timeline.unjudged),
    )
