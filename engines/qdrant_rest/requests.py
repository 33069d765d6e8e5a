"""Converts read requests from JSON to the engine's types. Refuses malformed requests."""

import qdrant_edge as engine

from .errors import bad_format, invalid, not_found, wrong_input
from .filters import condition_filter
from .ids import many, point_id
from .points import vector

DEFAULT_LIMIT = 10
DIRECTIONS = {"asc": engine.Direction.Asc, "desc": engine.Direction.Desc}


def limit(body):
    value = body.get("limit")
    if value is None:
        return DEFAULT_LIMIT
    if value < 1:
        raise invalid("limit", f"value {value} invalid, must be 1 or larger")
    return value


def payload_choice(value, default):
    if value is None:
        return default
    if isinstance(value, dict):
        selector = engine.PayloadSelector
        return selector.Include(value["include"]) if "include" in value else selector.Exclude(value["exclude"])
    return value


def order_by(value):
    if value is None:
        return None
    if isinstance(value, str):
        return engine.OrderBy(value)
    return engine.OrderBy(value["key"], DIRECTIONS[value.get("direction") or "asc"], value.get("start_from"))


def search_params(value):
    if not value:
        return None
    exact, indexed_only = bool(value.get("exact")), bool(value.get("indexed_only"))
    return engine.SearchParams(
        hnsw_ef=value.get("hnsw_ef"), exact=exact, indexed_only=indexed_only, idf=idf_params(value.get("idf"))
    )


def idf_params(value):
    """Parses the points over which the rarity of terms is computed; None: all points of the collection."""
    if value is None or value == "global":
        return None
    if not isinstance(value, dict) or value.keys() - {"corpus"}:
        raise bad_format('params.idf must be "global" or {"corpus": filter}')
    return engine.IdfParams(condition_filter(value.get("corpus")))


def scoring(value, using, collection):
    """Parses the ranking of a query: similarity to a vector or point, a fusion, an order, or a random sample."""
    if value is None:
        return None
    if isinstance(value, dict) and "indices" not in value:
        if "fusion" in value:
            return {"rrf": engine.Fusion.Rrf(k=2), "dbsf": engine.Fusion.Dbsf()}[value["fusion"]]
        if "rrf" in value:
            return engine.Fusion.Rrf(k=value["rrf"].get("k") or 2, weights=value["rrf"].get("weights"))
        if "order_by" in value:
            return order_by(value["order_by"])
        if "sample" in value:
            return engine.Sample.Random
        if "nearest" not in value:
            raise bad_format(f"the query {', '.join(value)} is not offered by the embedded engine")
        value = value["nearest"]
    name = using or ""
    if not isinstance(value, (list, dict)):
        return engine.Query.Nearest(vector_of(collection, point_id(value), name), using)
    return engine.Query.Nearest(vector(name, value, collection.config), using)


def excluding_referenced(body):
    """Returns a request's filter without the points whose vectors it refers to: Qdrant omits them from the results."""
    given, ids = condition_filter(body.get("filter")), referenced(body)
    if not ids:
        return given
    return engine.Filter(must=[given] if given else None, must_not=[engine.HasIdCondition(ids)])


def referenced(body):
    value = body.get("query")
    if isinstance(value, dict):
        value = value.get("nearest")
    ids = set() if value is None or isinstance(value, (list, dict)) else {point_id(value)}
    return ids.union(*(referenced(part) for part in many(body.get("prefetch"))))


def vector_of(collection, id_, name):
    found = collection.shard.retrieve([id_], False, [name] if name else True)
    if not found:
        raise not_found(f"No point with id {id_} found")
    stored = found[0].vector
    stored = stored.get(name) if isinstance(stored, dict) else stored
    if stored is None:
        raise wrong_input(f"Point {id_} has no vector {name}")
    return stored


def prefetch(body, collection):
    return engine.Prefetch(
        limit=limit(body),
        query=scoring(body.get("query"), body.get("using"), collection),
        prefetches=[prefetch(part, collection) for part in many(body.get("prefetch"))],
        params=search_params(body.get("params")),
        filter=excluding_referenced(body),
        score_threshold=body.get("score_threshold"),
    )


def query(body, collection):
    return engine.QueryRequest(
        limit=limit(body),
        offset=body.get("offset") or 0,
        query=scoring(body.get("query"), body.get("using"), collection),
        prefetches=[prefetch(part, collection) for part in many(body.get("prefetch"))],
        with_vector=body.get("with_vector") or False,
        with_payload=payload_choice(body.get("with_payload"), False),
        filter=excluding_referenced(body),
        score_threshold=body.get("score_threshold"),
        params=search_params(body.get("params")),
    )


def scroll(body):
    offset = body.get("offset")
    return engine.ScrollRequest(
        offset=None if offset is None else point_id(offset),
        limit=limit(body),
        filter=condition_filter(body.get("filter")),
        with_payload=payload_choice(body.get("with_payload"), True),
        with_vector=body.get("with_vector") or False,
        order_by=order_by(body.get("order_by")),
    )


def facet(body):
    return engine.FacetRequest(body["key"], limit(body), bool(body.get("exact")), condition_filter(body.get("filter")))
