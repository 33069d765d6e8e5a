"""Filters: JSON → the engine's types."""

import qdrant_edge as engine

from .errors import bad_format
from .ids import many, point_id


class EngineBool:
    """A bool that the engine's binding does not convert to the integer 0 or 1.

    The binding tries to convert to an integer first, and Python's bools are integers, so MatchValue(True) would match
    nothing. It tries a bool last, and accepts a class with NumPy's old name for its bool, which is not an integer.
    """

    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value


EngineBool.__module__, EngineBool.__name__ = "numpy", "bool_"


MATCHES = {
    "value": lambda value: engine.MatchValue(EngineBool(value) if isinstance(value, bool) else value),
    "any": engine.MatchAny,
    "except": engine.MatchExcept,
    "text": engine.MatchText,
    "text_any": engine.MatchTextAny,
    "phrase": engine.MatchPhrase,
}


def match(value):
    for kind, make in MATCHES.items():
        if kind in value:
            return make(value[kind])
    raise bad_format(f"unknown match {', '.join(value)}")


def value_range(value):
    bounds = {name: bound for name, bound in value.items() if bound is not None}
    has_dates = any(isinstance(bound, str) for bound in bounds.values())
    return (engine.RangeDateTime if has_dates else engine.RangeFloat)(**bounds)


def field_condition(value):
    parts = {"match": match, "range": value_range, "values_count": lambda count: engine.ValuesCount(**count)}
    conditions = {name: make(value[name]) for name, make in parts.items() if value.get(name)}
    flags = {name: value[name] for name in ("is_empty", "is_null") if value.get(name) is not None}
    if not conditions and not flags:
        raise bad_format(f"the condition on {value['key']} is not offered by the embedded engine")
    return engine.FieldCondition(value["key"], **conditions, **flags)


CONDITIONS = {
    "has_id": lambda value: engine.HasIdCondition({point_id(id_) for id_ in value["has_id"]}),
    "is_empty": lambda value: engine.IsEmptyCondition(value["is_empty"]["key"]),
    "is_null": lambda value: engine.IsNullCondition(value["is_null"]["key"]),
    "has_vector": lambda value: engine.HasVectorCondition(value["has_vector"]),
    "nested": lambda value: engine.NestedCondition(value["nested"]["key"], condition_filter(value["nested"]["filter"])),
}
CLAUSES = ("must", "should", "must_not")


def condition(value):
    if "key" in value:
        return field_condition(value)
    for kind, make in CONDITIONS.items():
        if kind in value:
            return make(value)
    return condition_filter(value)


def condition_filter(value):
    """Parses a filter; None if there is none. Refuses an unknown clause: ignoring it would match too much."""
    if not value:
        return None
    unknown = value.keys() - {*CLAUSES, "min_should"}
    if unknown:
        raise bad_format(f"unknown condition {', '.join(sorted(unknown))}")
    clauses = {name: [condition(part) for part in many(value[name])] for name in CLAUSES if value.get(name) is not None}
    min_should = value.get("min_should")
    if min_should:
        clauses["min_should"] = engine.MinShould(
            [condition(part) for part in min_should["conditions"]], min_should["min_count"]
        )
    return engine.Filter(**clauses)
