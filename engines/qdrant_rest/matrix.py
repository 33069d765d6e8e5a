"""The similarities among the points of a filter, as Qdrant computes them: each point's nearest ones among a sample.

https://github.com/qdrant/qdrant/blob/74f3e85b9473/lib/collection/src/collection/distance_matrix.rs
"""

import numpy
import qdrant_edge as engine

from .errors import bad_format, invalid
from .filters import condition_filter

# Distances whose similarity is the dot product. The engine stores vectors of cosine distance with a length of 1.
SIMILARITIES = ("Cosine", "Dot")
DEFAULT_SAMPLE = 10
DEFAULT_LIMIT = 3


def number(body, name, default, least):
    value = default if body.get(name) is None else body[name]
    if value < least:
        raise invalid(name, f"value {value} invalid, must be {least} or larger")
    return value


def sample_points(shard, body, using):
    """Returns random points of the filter that have the vector, in the order of their ids."""
    found = shard.query(
        engine.QueryRequest(
            limit=number(body, "sample", DEFAULT_SAMPLE, 2),
            query=engine.Sample.Random,
            filter=condition_filter(body.get("filter")),
            with_vector=[using],
        )
    )
    vectors = {point.id: point.vector.get(using) for point in found if point.vector}
    points = [(id_, vector) for id_, vector in vectors.items() if vector is not None]
    # Numbers come before UUIDs, as in Qdrant.
    return sorted(points, key=lambda point: (not isinstance(point[0], int), point[0]))


def offsets(body, collection):
    """Returns ids of points, and triples of two offsets in them with the similarity of their vectors."""
    using, limit = body.get("using") or "", number(body, "limit", DEFAULT_LIMIT, 1)
    distance = collection.config.vectors.get(using, {}).get("distance")
    if distance not in SIMILARITIES:
        raise bad_format(f"a matrix of vectors with the distance {distance} is not offered by the embedded engine")
    points = sample_points(collection.shard, body, using)
    ids = [id_ for id_, _ in points]
    if len(points) < 2:
        return {"offsets_row": [], "offsets_col": [], "scores": [], "ids": []}
    vectors = numpy.array([vector for _, vector in points], dtype=numpy.float32)
    similarities = vectors @ vectors.T
    numpy.fill_diagonal(similarities, -numpy.inf)
    nearest = numpy.argsort(-similarities, axis=1, kind="stable")[:, : min(limit, len(points) - 1)]
    rows = numpy.repeat(numpy.arange(len(points)), nearest.shape[1])
    columns = nearest.ravel()
    return {
        "offsets_row": rows.tolist(),
        "offsets_col": columns.tolist(),
        "scores": similarities[rows, columns].tolist(),
        "ids": ids,
    }
