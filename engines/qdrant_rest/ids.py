"""Parses point ids, and fields that may contain one value or a list."""

from uuid import UUID

from .errors import bad_format


def many(value):
    """Returns a list for a field in which Qdrant accepts one value or a list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def point_id(value):
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**64:
        return value
    if isinstance(value, str):
        try:
            return UUID(value)
        except ValueError:
            pass
    raise bad_format(f"value {value} is not a valid point ID, valid values are either an unsigned integer or a UUID")
