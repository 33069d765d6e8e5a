"""The similarities among the points of a filter, as Qdrant computes them: each point's nearest ones among a sample.

https://github.com/qdrant/qdrant/blob/74f3e85b9473/lib/collection/src/collection/distance_matrix.rs
"""

import qdrant_edge as engine

from .errors import invalid
from .filters import condition_filter

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
    return sorted((id_, vector) for id_, vector in vectors.items() if vector is not None)


def offsets(body, collection):
    """Returns ids of points, and triples of two offsets in them with the similarity of their vectors."""
    using, limit = body.get("using") or "", number(body, "limit", DEFAULT_LIMIT, 1)
    points = sample_points(collection.shard, body, using)
    ids = [id_ for id_, _ in points]
    among = engine.Filter(must=[engine.HasIdCondition(set(ids))])
    # One more than wanted: each point is its own nearest one.
    searches = [
        engine.QueryRequest(limit=limit + 1, query=engine.Query.Nearest(vector, using), filter=among)
        for _, vector in points
    ]
    found = collection.shard.query_batch(engine.QueryBatchRequest(searches)) if len(points) > 1 else []
    offset_of = {id_: offset for offset, id_ in enumerate(ids)}
    rows, columns, scores = [], [], []
    for offset, (id_, hits) in enumerate(zip(ids, found)):
        for hit in [hit for hit in hits if hit.id != id_][:limit]:
            rows.append(offset)
            columns.append(offset_of[hit.id])
            scores.append(hit.score)
    return {"offsets_row": rows, "offsets_col": columns, "scores": scores, "ids": ids}
