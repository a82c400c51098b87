"""Which queries of a user's own an engine answers: one SELECT that reads the one table it is given.

A policy may come from somebody else, and an engine can read files. So a query is parsed by the engine's own
parser and everything in its tree must be on a list: kinds of nodes, functions, and the name of the table.
What is not listed is refused. DuckDB runs the text that its parser made of the tree, and that text is checked.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NoReturn

from discreet.errors import InvalidParameter
from discreet.sentences import Sentence

TABLE = "data"
"""What a query calls the table: ``SELECT avg(age) FROM data``."""

MAX_ROWS = 10_000
"""An answer has at most this many rows: a query is asked for figures, not for records."""

QUERY_SECONDS = 300.0
"""So long may a query take."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


AGGREGATES = _words(
    "avg bool_and bool_or corr count count_if count_star covar_pop covar_samp kurtosis max max_by mean "
    "median min min_by mode percentile_cont percentile_disc quantile_cont quantile_disc regr_intercept regr_r2 "
    "regr_slope skewness std stddev stddev_pop stddev_samp sum var_pop var_samp variance"
)
WINDOWS = _words("cume_dist dense_rank lag lead ntile percent_rank rank row_number")
NUMBERS = _words(
    "+ - * / // % ** ^ abs cbrt ceil ceiling exp floor greatest isfinite isinf isnan least ln log log10 log2 mod pow "
    "power round sign sqrt trunc width_bucket"
)
TEXTS = _words(
    "|| ~~ !~~ ~~* !~~* concat contains ends_with endswith left length like_escape lower ltrim not_like_escape "
    "position prefix regexp_full_match regexp_like regexp_matches replace reverse right rtrim split_part "
    "starts_with startswith strpos substr substring suffix trim upper"
)
DATES = _words(
    "date_add date_diff date_part date_sub date_trunc datediff day dayofmonth dayofweek dayofyear extract hour "
    "make_date minute month quarter second to_days to_hours to_minutes to_months to_seconds to_weeks to_years "
    "week weekday weekofyear year"
)
CHOICES = _words("between coalesce if ifnull isnull isnotnull nullif nvl")
LISTS = _words("array_contains array_size cardinality len list_contains list_value size")
FUNCTIONS = AGGREGATES | WINDOWS | NUMBERS | TEXTS | DATES | CHOICES | LISTS
"""Functions and operators that compute from values alone: no file, no setting, no clock, no chance."""


NOW = _words(
    "current_catalog current_database current_date current_path current_role current_schema current_time "
    "current_timestamp current_user localtime localtimestamp session_user"
)
"""Names that engines read as functions where no column has them; a column of this name is written data.NAME."""


def refuse(reason: str) -> NoReturn:
    """Refuse a query; the reason quotes nothing but the query."""
    raise InvalidParameter(
        Sentence("the query {reason}", reason=Sentence(reason)),
        remedy=Sentence("write one SELECT that reads the table {table!r} and nothing else", table=TABLE),
    )


def takes_too_long() -> InvalidParameter:
    """What to say of a query that was stopped at its limit."""
    return InvalidParameter(
        Sentence("the query takes longer than {query_seconds:.0f} seconds", query_seconds=QUERY_SECONDS),
        remedy="ask for less at once",
    )


@contextmanager
def in_time(stop: Callable[[], None]) -> Iterator[None]:
    """Let the engine ``stop`` a query that takes too long, and say so; what ends it otherwise stays what it is."""
    late, over = threading.Event(), threading.Event()

    def watch() -> None:
        if not over.wait(QUERY_SECONDS):
            late.set()
            stop()
            # A query may begin something else in the moment in which it is stopped.
            while not over.wait(0.5):
                stop()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    except Exception:
        if not late.is_set():
            # Refused by the engine, or somebody pressed Ctrl-C.
            raise
        raise takes_too_long() from None
    finally:
        over.set()
        watcher.join()


def check_function(name: str, *, qualified: bool) -> None:
    """Refuse a function that is not listed, or that is named with a schema.

    >>> check_function("getenv", qualified=False)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidParameter: the query calls 'getenv', which is not among the functions that a query may \
call; write one SELECT that reads the table 'data' and nothing else
    """
    if qualified or name.lower() not in FUNCTIONS:
        refuse(Sentence("calls {name!r}, which is not among the functions that a query may call", name=name))


def check_column(name: str) -> None:
    """Refuse a name that stands for the clock, the user or the place instead of a column."""
    if name.lower() in NOW:
        refuse(
            Sentence(
                "speaks of {name!r}, which differs from run to run; a column is written {table}.{name}",
                name=name,
                table=TABLE,
            )
        )


# ── DuckDB ───────────────────────────────────────────────────────────────────────────────────────────

DUCKDB_EXPRESSIONS = _words(
    "BETWEEN CASE CAST COLLATE COLUMN_REF COMPARISON CONJUNCTION CONSTANT FUNCTION OPERATOR STAR SUBQUERY TYPE "
    "WINDOW"
)
DUCKDB_NODES = _words(
    "SELECT_NODE SET_OPERATION_NODE BASE_TABLE SUBQUERY JOIN EMPTY EXPRESSION_LIST ORDER_MODIFIER LIMIT_MODIFIER "
    "DISTINCT_MODIFIER ORDER_DEFAULT ASCENDING DESCENDING"
)


def check_duckdb(tree: object) -> None:
    """Refuse a tree of ``json_serialize_sql`` that holds anything that is not listed."""
    _check_read(_duckdb(tree, frozenset([TABLE])))


def named_columns(part: object) -> set[str] | None:
    """The columns that a tree names, in lower case; ``None`` if a star or a natural join means others, too.

    The outermost star, of the wrapping that limits the answer, is no such one.
    """
    names: set[str] = set()
    stars = 0
    parts = [part]
    while parts:
        inner = parts.pop()
        if isinstance(inner, list):
            parts += inner
        elif isinstance(inner, dict):
            stars += inner.get("class") == "STAR"
            if stars > 1 or inner.get("ref_type") == "NATURAL":
                return None
            if inner.get("class") == "COLUMN_REF":
                names.add(str(inner["column_names"][-1]).lower())
            names |= {str(name).lower() for name in inner.get("using_columns") or []}
            parts += inner.values()
    return names


def _duckdb(part: object, scope: frozenset[str]) -> frozenset[str]:
    """Check a part of the tree; the tables it reads. ``scope`` are the tables and CTEs it may name.

    A CTE is known only after its own text and only inside its statement: elsewhere the same name would be
    another table of the engine.
    """
    if isinstance(part, list):
        return frozenset().union(*[_duckdb(child, scope) for child in part])
    if not isinstance(part, dict):
        return frozenset()
    reads: frozenset[str] = frozenset()
    for entry in (part.get("cte_map") or {}).get("map", []):
        reads |= _duckdb(entry["value"], scope)
        scope |= {_cte_name(entry["key"])}
    kind = part.get("type")
    if "class" in part:
        if part["class"] not in DUCKDB_EXPRESSIONS:
            refuse(
                Sentence("holds an expression of the kind {kind}, which is not allowed", kind=part["class"])
            )
        if "function_name" in part:
            path = (part.get("qualified_name") or {}).get("path", [part["function_name"]])
            qualified = bool(part.get("schema") or part.get("catalog")) or len(path) != 1
            check_function(part["function_name"], qualified=qualified)
        if part["class"] == "COLUMN_REF" and len(part["column_names"]) == 1:
            check_column(part["column_names"][0])
    elif isinstance(kind, str) and kind not in DUCKDB_NODES:
        refuse(Sentence("holds a part of the kind {kind}, which is not allowed", kind=kind))
    if part.get("sample") is not None:
        refuse("draws a sample, so its answer would change from run to run")
    if kind == "BASE_TABLE":
        path = (part.get("qualified_name") or {}).get("path", [part["table_name"]])
        plain = not part.get("schema_name") and not part.get("catalog_name") and len(path) == 1
        reads |= _table(part["table_name"], scope, plain=plain and part.get("at_clause") is None)
    return reads.union(*[_duckdb(value, scope) for key, value in part.items() if key != "cte_map"])


def _cte_name(name: str) -> str:
    if name.lower() == TABLE or not re.fullmatch(r"\w+", name):
        refuse(
            Sentence(
                "calls a part of itself {name!r}; choose another name, of letters, digits and underscores",
                name=name,
            )
        )
    return name.lower()


def _table(name: str, scope: frozenset[str], *, plain: bool) -> frozenset[str]:
    if not plain or name.lower() not in scope:
        refuse(Sentence("reads {name!r}", name=name))
    return frozenset([name.lower()])


def _check_read(tables: frozenset[str]) -> None:
    if TABLE not in tables:
        refuse(Sentence("does not read the table {table!r}", table=TABLE))


# ── Spark ────────────────────────────────────────────────────────────────────────────────────────────

SPARK_PACKAGE = "org.apache.spark.sql.catalyst."
SPARK_CLASSES = _words(
    # plans
    "Aggregate Deduplicate Distinct Except Filter GlobalLimit Intersect Join LocalLimit OneRowRelation Project Sort "
    "SubqueryAlias Union UnresolvedHaving UnresolvedQualify UnresolvedRelation UnresolvedSubqueryColumnAliases "
    "UnresolvedWith Offset LimitAll "
    # names and constants
    "Alias UnresolvedAlias UnresolvedAttribute UnresolvedFunction UnresolvedOrdinal UnresolvedStar Literal Cast "
    # operators
    "Add And BitwiseXor BitwiseAnd BitwiseNot BitwiseOr CaseWhen Coalesce Concat Divide EqualNullSafe EqualTo GreaterThan "
    "GreaterThanOrEqual If In InSubquery IntegralDivide IsNotNull IsNull LessThan LessThanOrEqual Like Multiply Not "
    "Or ILike RLike Remainder Subtract UnaryMinus UnaryPositive StringTrim StringTrimLeft StringTrimRight Substring "
    "StringLocate Between UnresolvedExtractValue "
    # subqueries, windows, groupings
    "Exists ListQuery ScalarSubquery SortOrder WindowExpression WindowSpecDefinition SpecifiedWindowFrame "
    "UnspecifiedFrame$ CurrentRow$ UnboundedPreceding$ UnboundedFollowing$ Cube Rollup GroupingSets BaseGroupingSets "
    "UnresolvedGroupByAll"
)
SPARK_UNTOLD = _words("escapeChar evalContext evalMode groupingSetIndexes hint options")
"""Fields of a plan that Spark may leave out of its JSON and that hold neither plans nor expressions."""


def check_spark(plan: object) -> None:
    """Refuse a parsed plan, as its ``toJSON`` tells it, that holds anything that is not listed."""
    _check_read(_spark(plan, frozenset([TABLE])))


def _spark(part: object, scope: frozenset[str]) -> frozenset[str]:
    """Check a field of a plan: a tree is a list of its nodes, parents first; anything else may hold trees."""
    if isinstance(part, list):
        if part and isinstance(part[0], dict) and "class" in part[0]:
            end, reads = _spark_tree(part, 0, scope)
            if end != len(part):
                refuse("has a plan that cannot be checked")
            return reads
        return frozenset().union(*[_spark(child, scope) for child in part])
    if isinstance(part, dict):
        return frozenset().union(*[_spark(value, scope) for value in part.values()])
    return frozenset()


def _spark_tree(
    nodes: Sequence[Mapping[str, object]], at: int, scope: frozenset[str]
) -> tuple[int, frozenset[str]]:
    """Check the node at a place and its children, which follow it; the place behind them, and what they read."""
    node = nodes[at]
    kind = str(node["class"])
    short = kind.rpartition(".")[2]
    if not kind.startswith(SPARK_PACKAGE) or short not in SPARK_CLASSES:
        refuse(Sentence("holds a part of the kind {short}, which is not allowed", short=short))
    reads: frozenset[str] = frozenset()
    relations = node.get("cteRelations")
    if short == "UnresolvedWith":
        if node.get("allowRecursion") or not isinstance(relations, list):
            refuse("refers to itself")
        for entry in relations:
            reads |= _spark(entry["_2"], scope)
            scope |= {_cte_name(entry["_1"])}
    if short == "UnresolvedFunction":
        # Parts of a name are told with commas between them, so a qualified name is never on the list.
        check_function(str(node["nameParts"])[1:-1], qualified=False)
    if short == "UnresolvedAttribute":
        check_column(str(node["nameParts"])[1:-1])
    if short == "UnresolvedRelation":
        reads |= _table(str(node["multipartIdentifier"])[1:-1], scope, plain=not node.get("isStreaming"))
    for key, value in node.items():
        if value is None and key not in SPARK_UNTOLD and (short, key) != ("Literal", "value"):
            refuse(Sentence("holds a part of the kind {short} that cannot be checked", short=short))
        if key != "cteRelations":
            reads |= _spark(value, scope)
    children = node["num-children"]
    assert isinstance(children, int)
    at += 1
    for _ in range(children):
        at, below = _spark_tree(nodes, at, scope)
        reads |= below
    return at, reads
