"""Converts points and vectors from JSON. Checks them here, because the engine logs a write before it validates it."""

import qdrant_edge as engine

from .errors import bad_format, invalid, wrong_input
from .ids import point_id


def sparse_vector(value):
    """Checks a sparse vector. The engine panics on unequal lengths, and again each time it replays its log."""
    indices, values = value["indices"], value["values"]
    if len(indices) != len(values):
        raise invalid("vector.values", "must be the same length as indices")
    if len(set(indices)) != len(indices):
        raise invalid("vector.indices", "must be unique")
    return engine.SparseVector(indices, values)


def named_vectors(value, config):
    """Checks a point's vectors against the collection: the engine logs a write before it validates it."""
    if isinstance(value, list):
        value = {"": value}
    return {name: vector(name, part, config) for name, part in value.items()}


def vector(name, value, config):
    if name in config.sparse:
        if not isinstance(value, dict):
            raise wrong_input("Conversion between sparse and regular vectors failed")
        return sparse_vector(value)
    size = config.dense.get(name)
    if size is None:
        raise wrong_input(f"Not existing vector name error: {name}")
    if not isinstance(value, list):
        raise wrong_input("Conversion between sparse and regular vectors failed")
    if len(value) != size:
        raise wrong_input(f"Vector dimension error: expected dim: {size}, got {len(value)}")
    return value


def stored_vectors(value, config):
    """Returns the vectors in the form of a point: a single unnamed vector has no name."""
    vectors = named_vectors(value, config)
    return vectors[""] if vectors.keys() == {""} else vectors


def points(body, config):
    """Parses the points of an upsert, given as rows or as columns."""
    if "batch" not in body:
        return [
            engine.Point(point_id(p["id"]), stored_vectors(p.get("vector") or {}, config), p.get("payload") or {})
            for p in body["points"]
        ]
    batch = body["batch"]
    ids, columns = batch["ids"], batch["vectors"]
    payloads = batch.get("payloads") or [None] * len(ids)
    lengths = [len(column) for column in columns.values()] if isinstance(columns, dict) else [len(columns)]
    if any(length != len(ids) for length in [*lengths, len(payloads)]):
        raise bad_format("batch: ids, vectors and payloads must be of one length")
    rows = [dict(zip(columns, row)) for row in zip(*columns.values())] if isinstance(columns, dict) else columns
    return [
        engine.Point(point_id(id_), stored_vectors(row, config), payload or {})
        for id_, row, payload in zip(ids, rows, payloads)
    ]


def point_vectors(body, config):
    return [engine.PointVectors(point_id(p["id"]), stored_vectors(p["vector"], config)) for p in body["points"]]
