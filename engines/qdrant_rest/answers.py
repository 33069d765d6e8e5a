"""Converts the engine's types to what the server writes as JSON.

Ids stay UUID objects, because orjson writes them faster than str() does.
"""

import qdrant_edge as engine


def vectors(value):
    if isinstance(value, engine.SparseVector):
        return {"indices": value.indices, "values": value.values}
    if isinstance(value, dict):
        return {name: vectors(part) for name, part in value.items()}
    return value


def with_parts(answer, point):
    if point.payload is not None:
        answer["payload"] = point.payload
    if point.vector is not None:
        answer["vector"] = vectors(point.vector)
    if point.order_value is not None:
        answer["order_value"] = point.order_value
    return answer


def record(point):
    return with_parts({"id": point.id}, point)


def scored(point):
    return with_parts({"id": point.id, "version": point.version, "score": point.score}, point)


def collection(info, config, is_rebuilding):
    return {
        "status": "yellow" if is_rebuilding else "green",
        "optimizer_status": "ok",
        "points_count": info.points_count,
        "indexed_vectors_count": info.indexed_vectors_count,
        "segments_count": info.segments_count,
        "config": {"params": {**config, "shard_number": 1}, "hnsw_config": {}, "optimizer_config": {}},
        "payload_schema": {name: payload_index(index) for name, index in info.payload_schema.items()},
    }


def payload_index(index):
    kind = str(index.data_type).split(".")[-1].lower()
    answer = {"data_type": kind, "points": index.points}
    if isinstance(index.params, engine.KeywordIndexParams) and index.params.is_tenant:
        answer["params"] = {"type": kind, "is_tenant": True}
    return answer
