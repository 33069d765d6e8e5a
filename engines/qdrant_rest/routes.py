"""The supported requests: one row each, `handler(collections, body, name, argument)` → its result."""

import re

import qdrant_edge as engine

from . import answers, matrix, requests
from .errors import bad_format, not_found
from .filters import condition_filter
from .ids import point_id
from .points import point_vectors, points

Op = engine.UpdateOperation
INDEX_TYPES = {
    name: getattr(engine.PayloadSchemaType, name.capitalize())
    for name in ("keyword", "integer", "float", "bool", "datetime", "uuid", "text", "geo")
}
TEXT_OPTIONS = ("lowercase", "min_token_len", "max_token_len", "phrase_matching")


def chosen(body, by_ids, by_filter, *more):
    """Returns an operation on the points that a request names, by ids or by a filter."""
    if body.get("points") is not None:
        return by_ids([point_id(id_) for id_ in body["points"]], *more)
    if body.get("filter") is None:
        raise bad_format("name the points, or a filter")
    return by_filter(condition_filter(body["filter"]) or engine.Filter(), *more)


def set_payload(body, config):
    return chosen(body, Op.set_payload, Op.set_payload_by_filter, body["payload"], body.get("key"))


def overwrite_payload(body, config):
    return chosen(body, Op.overwrite_payload, Op.overwrite_payload_by_filter, body["payload"], body.get("key"))


def delete_payload(body, config):
    return chosen(body, Op.delete_payload, Op.delete_payload_by_filter, body["keys"])


def clear_payload(body, config):
    return chosen(body, Op.clear_payload, Op.clear_payload_by_filter)


def delete_points(body, config):
    return chosen(body, Op.delete_points, Op.delete_points_by_filter)


def delete_vectors(body, config):
    names = body.get("vector") or body.get("vectors")
    return chosen(body, Op.delete_vectors, Op.delete_vectors_by_filter, names)


def update_vectors(body, config):
    return Op.update_vectors(point_vectors(body, config))


def upsert(body, config):
    return Op.upsert_points(points(body, config))


def create_index(body, config):
    schema = body["field_schema"]
    options = schema if isinstance(schema, dict) else {"type": schema}
    kind = options["type"]
    if kind not in INDEX_TYPES:
        raise bad_format(f"unknown field type {kind}")
    if kind == "keyword" and options.get("is_tenant") is not None:
        return Op.create_field_index(body["field_name"], engine.KeywordIndexParams(is_tenant=options["is_tenant"]))
    if kind == "text" and len(options) > 1:
        tokenizer = getattr(engine.TokenizerType, options.get("tokenizer", "word").capitalize())
        given = {name: options[name] for name in TEXT_OPTIONS if options.get(name) is not None}
        return Op.create_field_index(body["field_name"], engine.TextIndexParams(tokenizer=tokenizer, **given))
    return Op.create_field_index(body["field_name"], INDEX_TYPES[kind])


def named_points(body):
    """Returns the number of points that a write names; 0 if it has a filter."""
    return len(body["batch"]["ids"] if "batch" in body else body.get("points") or ())


def writing(make):
    """Returns a handler that applies the operation that `make` builds from the request."""

    def handle(collections, body, name, _):
        collection = collections.get(name)
        done = collection.update(make(body, collection.config), named_points(body))
        return {"operation_id": done, "status": "completed"}

    return handle


def delete_index(collections, body, name, field):
    return {"operation_id": collections.get(name).update(Op.delete_field_index(field), 0), "status": "completed"}


# The operations of POST …/points/batch, each in the form of its own request.
BATCH = {
    "upsert": upsert,
    "delete": delete_points,
    "set_payload": set_payload,
    "overwrite_payload": overwrite_payload,
    "delete_payload": delete_payload,
    "clear_payload": clear_payload,
    "update_vectors": update_vectors,
    "delete_vectors": delete_vectors,
}


def batch(collections, body, name, _):
    collection = collections.get(name)
    steps = []
    for step in body["operations"]:
        ((kind, content),) = step.items()
        if kind not in BATCH:
            raise bad_format(f"unknown operation {kind}")
        steps.append((BATCH[kind](content, collection.config), named_points(content)))
    return [{"operation_id": collection.update(*step), "status": "completed"} for step in steps]


def list_collections(collections, body, *_):
    return {"collections": [{"name": name} for name in collections.names()]}


def create_collection(collections, body, name, _):
    collections.create(name, body)
    return True


def describe(collections, body, name, _):
    collection = collections.get(name)
    return answers.collection(collection.shard.info(), collection.config.body, collections.is_rebuilding(collection))


def retrieve(collections, body, name, _):
    ids = [point_id(id_) for id_ in body["ids"]]
    payload = requests.payload_choice(body.get("with_payload"), True)
    found = collections.get(name).shard.retrieve(ids, payload, body.get("with_vector") or False)
    return [answers.record(point) for point in found]


def retrieve_one(collections, body, name, id_):
    ids = [point_id(int(id_) if id_.isdecimal() else id_)]
    found = collections.get(name).shard.retrieve(ids, True, True)
    if not found:
        raise not_found(f"Point with id {id_} does not exists!")
    return answers.record(found[0])


def scroll(collections, body, name, _):
    found, following = collections.get(name).shard.scroll(requests.scroll(body))
    return {"points": [answers.record(point) for point in found], "next_page_offset": following}


def count(collections, body, name, _):
    wanted = engine.CountRequest(exact=body.get("exact", True), filter=condition_filter(body.get("filter")))
    return {"count": collections.get(name).shard.count(wanted)}


def query(collections, body, name, _):
    collection = collections.get(name)
    return {"points": [answers.scored(p) for p in collection.shard.query(requests.query(body, collection))]}


def query_batch(collections, body, name, _):
    collection = collections.get(name)
    wanted = [requests.query(search, collection) for search in body["searches"]]
    found = collection.shard.query_batch(engine.QueryBatchRequest(wanted))
    return [{"points": [answers.scored(point) for point in part]} for part in found]


def matrix_offsets(collections, body, name, _):
    return matrix.offsets(body, collections.get(name))


def facet(collections, body, name, _):
    hits = collections.get(name).shard.facet(requests.facet(body)).hits
    return {"hits": [{"value": hit.value, "count": hit.count} for hit in hits]}


ROUTES = [
    ("GET", "/collections", list_collections),
    ("GET", "/collections/{name}", describe),
    ("PUT", "/collections/{name}", create_collection),
    ("DELETE", "/collections/{name}", lambda collections, body, name, _: collections.delete(name)),
    ("GET", "/collections/{name}/exists", lambda collections, body, name, _: {"exists": collections.exists(name)}),
    ("PUT", "/collections/{name}/index", writing(create_index)),
    ("DELETE", "/collections/{name}/index/{argument}", delete_index),
    ("PUT", "/collections/{name}/points", writing(upsert)),
    ("POST", "/collections/{name}/points", retrieve),
    ("POST", "/collections/{name}/points/delete", writing(delete_points)),
    ("POST", "/collections/{name}/points/payload", writing(set_payload)),
    ("PUT", "/collections/{name}/points/payload", writing(overwrite_payload)),
    ("POST", "/collections/{name}/points/payload/delete", writing(delete_payload)),
    ("POST", "/collections/{name}/points/payload/clear", writing(clear_payload)),
    ("PUT", "/collections/{name}/points/vectors", writing(update_vectors)),
    ("POST", "/collections/{name}/points/vectors/delete", writing(delete_vectors)),
    ("POST", "/collections/{name}/points/batch", batch),
    ("POST", "/collections/{name}/points/scroll", scroll),
    ("POST", "/collections/{name}/points/count", count),
    ("POST", "/collections/{name}/points/query", query),
    ("POST", "/collections/{name}/points/query/batch", query_batch),
    ("POST", "/collections/{name}/points/search/matrix/offsets", matrix_offsets),
    ("POST", "/collections/{name}/facet", facet),
    ("GET", "/collections/{name}/points/{argument}", retrieve_one),
]


def pattern(path):
    return re.compile(path.replace("{name}", "(?P<name>[^/]+)").replace("{argument}", "(?P<argument>[^/]+)"))


TABLE = [(method, pattern(path), handler) for method, path, handler in ROUTES]


def find(method, path):
    """Returns the handler of a request, the collection's name and the argument in its path."""
    for row_method, row_path, handler in TABLE:
        found = row_path.fullmatch(path)
        if found and row_method == method:
            parts = found.groupdict()
            return handler, parts.get("name"), parts.get("argument")
    raise not_found(f"the embedded engine does not offer {method} {path}")
