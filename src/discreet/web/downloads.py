"""What can be downloaded: which job makes it, and what it is called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from discreet.reports.words import Edition
from discreet.web.cases import SUFFIXES


@dataclass(frozen=True)
class Download:
    """A file to download, with the name that it gets then."""

    path: Path
    name: str
    media_type: str


MEDIA_TYPES = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".parquet": "application/vnd.apache.parquet",
    ".arrow": "application/vnd.apache.arrow.file",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".json": "application/json",
    ".toml": "application/toml",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".zip": "application/zip",
}

DRAWN_LATER: dict[str, Edition] = {"audit-report": "internal", "audit-report-public": "public"}
"""Reports that are drawn when somebody wants them."""

DOWNLOADS: dict[str, tuple[str, str, str]] = {
    "release": ("anonymize", "release.*", "release"),
    "codebook": ("anonymize", "codebook.csv", "codebook"),
    "recipe": ("anonymize", "recipe.json", "recipe"),
    "report": ("anonymize", "report.html", "release-report"),
    "report-public": ("anonymize", "report-public.html", "release-report-public"),
    "release-policy": ("anonymize", "policy.toml", "release-policy"),
    "audit-report": ("audit", "report.html", "audit-report"),
    "audit-report-public": ("audit", "report-public.html", "audit-report-public"),
    "evidence-report": ("evidence", "report.html", "evidence-report"),
    "evidence-report-public": ("evidence", "report-public.html", "evidence-report-public"),
    "evidence": ("evidence", "result.json", "evidence"),
    "frontier": ("frontier", "frontier.svg", "frontier"),
    "bucket-rows": ("bucketize", "rows.csv", "bucket-rows"),
    "bucket-values": ("bucketize", "values.csv", "bucket-values"),
    "fragments": ("fragment", "fragments.zip", "fragments"),
    "tables": ("tabulate", "tables.csv", "tables"),
    "tables-guarantee": ("tabulate", "tables.csv.guarantee.json", "tables-guarantee"),
    "artificial": ("synthesize", "artificial.csv", "artificial"),
    "artificial-guarantee": ("synthesize", "artificial.csv.guarantee.json", "artificial-guarantee"),
    "answer": ("ask", "answer.csv", "answer"),
    "answer-guarantee": ("ask", "answer.csv.guarantee.json", "answer-guarantee"),
    "classifier": ("learn", "classifier.json", "classifier"),
    "classifier-guarantee": ("learn", "classifier.json.guarantee.json", "classifier-guarantee"),
    "baskets-bundle": ("release-baskets", "bundle.zip", "bundle"),
    "baskets": ("release-baskets", "baskets.csv", "release"),
    "baskets-codebook": ("release-baskets", "codebook.csv", "codebook"),
    "tables-bundle": ("release-tables", "bundle.zip", "bundle"),
    "tables-policy": ("release-tables", "policy.toml", "policy"),
    "records": ("safepub", "records.csv", "records"),
    "records-guarantee": ("safepub", "records.csv.guarantee.json", "records-guarantee"),
}
"""What can be downloaded: the kind of job that makes it, the file that it leaves, and what it is called."""


def download_of(path: Path, name: str) -> Download:
    """A file to download under a name."""
    return Download(path, name, MEDIA_TYPES.get(path.suffix, "application/octet-stream"))


def stem_of(label: str) -> str:
    """The name of a table without its ending."""
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        if label.lower().endswith(suffix):
            return label[: -len(suffix)] or "table"
    return label
