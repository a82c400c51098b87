"""`discreet learn`: a classifier with a guarantee, paid for from the table's budget."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from discreet.cli.budget import LEDGER, refuse_unpayable
from discreet.cli.command import StrictCommand
from discreet.cli.guarantee_options import amount_options, privacy_options, terms_of
from discreet.cli.options import FILE, PATH, open_table, print_json, reading_options
from discreet.cli.progress import progress
from discreet.cli.setting_options import split
from discreet.cli.streams import InputFile
from discreet.dp.certificate import write_statement
from discreet.dp.learning import LEARNERS
from discreet.dp.learning import learn as run_learn
from discreet.files.writing import write_text
from discreet.reports.console import Terminal
from discreet.reports.differential_privacy import show_classifier


@click.command(cls=StrictCommand)
@FILE
@click.option("--label", required=True, help="The column that is predicted.", metavar="COLUMN")
@click.option("--output", "-o", type=PATH, required=True, help="Where the classifier is written, as JSON.")
@amount_options
@click.option("--columns", help="From which columns (all, if not given).", metavar="A,B,…")
@click.option(
    "--learner",
    type=click.Choice(LEARNERS),
    default="naive-bayes",
    show_default=True,
    help="naive-bayes: from noisy counts. logistic-regression: from noisy gradients, needs a delta.",
)
@privacy_options
@click.option(
    "--bins",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="In so many bins are numbers told apart, at most.",
)
@click.option("--test", type=InputFile(), help="Records of other people, to test it on.", metavar="FILE")
@LEDGER
@reading_options
@click.option("--json", "as_json", is_flag=True, help="Print the classifier as JSON.")
def learn(
    file: Path,
    label: str,
    output: Path,
    columns: str | None,
    learner: Any,
    bins: int,
    test: Path | None,
    ledger: Path | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Learn to predict a column of FILE from the others, with a guarantee.

    What a test says is not protected: it is computed from the records that are tested on, without noise.
    """
    paid = refuse_unpayable(output, file, ledger)
    terms = terms_of(given)
    with progress(quiet=as_json) as tell:
        tell(f"reading {file.name}")
        # Read before anything is spent.
        others = None if test is None else open_table(test, given)
        classifier = run_learn(
            open_table(file, given),
            label,
            columns=split(columns),
            learner=learner,
            **terms,
            bins=bins,
            ledger=paid,
        )
        tell("writing")
        document = classifier.to_dict()
        write_text(output, json.dumps(document, ensure_ascii=False, indent=1) + "\n")
        write_statement(output, classifier.guarantee, classifier.payment)
        tested = None if others is None else classifier.test(others)
    if as_json:
        print_json({**document, "test": None if tested is None else vars(tested)})
    else:
        Terminal().print(show_classifier(classifier, tested, output.name))
