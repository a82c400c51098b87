"""A release with buckets, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from discreet.release.bucketize import BucketRelease


def show_buckets(
    release: BucketRelease, names: tuple[str, str], assumed: Sequence[str] = ()
) -> RenderableType:
    """How many buckets there are, what holds in each of them, and what does not follow from that."""
    sizes = release.buckets.classes.records
    lines = [
        Text(
            f"{release.rows.num_rows:,} rows in {len(sizes):,} buckets of {sizes.min()} to {sizes.max()}",
            style="bold",
        ),
        Text(f"  {names[0]}: quasi-identifiers as they are, with {release.column}"),
        Text(f"  {names[1]}: how often each value of {release.sensitive} occurs in each {release.column}"),
    ]
    lines += [Text(f"  holds in both files: {model.describe()}") for model in release.models]
    lines += [Text(f"  {note}", style="dim") for note in (*assumed, *release.notes)]
    return Group(*lines)
