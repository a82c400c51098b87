"""Anonymising as a step of scikit-learn: ``fit`` finds what happens to each value, ``transform`` does it to other rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import discreet
from discreet.errors import MissingDependency, RequirementNotMet
from discreet.policy.file import GivenPolicy, open_policy
from discreet.policy.plan import Plan
from discreet.sentences import Sentence
from discreet.transform.recipe import Unseen

if TYPE_CHECKING:
    import pandas as pd

try:
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingDependency("scikit-learn is not installed", remedy='pip install "discreet[ml]"') from error


class Anonymizer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Rows whose quasi-identifiers are generalised as those it was fitted on, under the same guarantee.

    ``policy`` is a policy, its file or a dict; suggested from the rows if left out. ``plan`` overrides how the policy
    anonymises. ``unseen`` says what happens to values that it was not fitted on: ``"suppress"`` or ``"refuse"``.

    Rows keep their order and number, as scikit-learn needs them beside their labels: nobody is suppressed in the rows that
    it is fitted on. Of other rows, groups that are too small are shown with ``*``, up to the plan's suppression limit.
    What ``transform`` gives is verified like any release: rows that break a requirement, such as fewer than k of them,
    are refused. So it is a step for tables that are handed on, not for single predictions.

    >>> import pandas as pd
    >>> from discreet.privacy import KAnonymity
    >>> people = pd.DataFrame({"age": [31, 32, 33, 47, 48, 49] * 4, "ill": list("ab") * 12})
    >>> policy = discreet.Policy.of(
    ...     quasi_identifiers=["age"], sensitive=["ill"], require=[KAnonymity(5)], profile="research-partner-3"
    ... )
    >>> coarse = Anonymizer(policy, plan=discreet.Plan(method="mondrian")).fit(people)
    >>> sorted(coarse.transform(people.head(12))["age"].unique())
    ['<= 39', '>= 40']
    """

    def __init__(
        self, policy: GivenPolicy | None = None, *, plan: Plan | None = None, unseen: Unseen = "suppress"
    ) -> None:
        self.policy = policy
        self.plan = plan
        self.unseen = unseen

    def fit(self, X: Any, y: object = None) -> Anonymizer:
        """Find what happens to each value, on rows that show all of them."""
        frame = self._frame(X, reset=True)
        given = discreet.suggest(frame) if self.policy is None else open_policy(self.policy)
        plan = replace(self.plan or given.plan, order="kept", suppressed="star")
        self.policy_ = replace(given, plan=plan)
        release = discreet.anonymize(frame, self.policy_, plan=replace(plan, suppression_limit=0.0))
        self.recipe_ = replace(release.recipe, unseen=self.unseen, suppression_limit=plan.suppression_limit)
        self.loss_ = release.loss
        return self

    def transform(self, X: Any) -> pd.DataFrame:
        """The rows with their quasi-identifiers generalised, verified."""
        check_is_fitted(self)
        frame = self._frame(X, reset=False)
        release = discreet.apply(self.recipe_, frame, self.policy_)
        rows = release.to_pandas()
        if len(rows) != len(frame):
            raise RequirementNotMet(
                Sentence(
                    "{records} records can be shown neither as they are nor with *",
                    records=len(frame) - len(rows),
                ),
                remedy="give more rows, or ask for less",
            )
        return rows.set_index(frame.index)

    def get_feature_names_out(self, input_features: object = None) -> Any:
        """The columns that are left."""
        check_is_fitted(self)
        return np.asarray(self.recipe_.columns, dtype=object)

    def _frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        """The rows as a pandas frame; columns of an array are called x0, x1, …"""
        import pandas as pd

        if not hasattr(X, "columns"):
            checked = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
            return pd.DataFrame(checked, columns=[f"x{i}" for i in range(checked.shape[1])])
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X if isinstance(X, pd.DataFrame) else discreet.read(X).to_pandas()

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may expect: rows of any kind, with gaps."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags


__all__ = ["Anonymizer"]
