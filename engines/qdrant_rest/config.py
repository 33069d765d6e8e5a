"""The configuration of a collection's vectors, as JSON and as the engine's types."""

import os

import qdrant_edge as engine

from .errors import bad_format

DISTANCES = {name: getattr(engine.Distance, name) for name in ("Cosine", "Dot", "Euclid", "Manhattan")}
# Qdrant's defaults.
HNSW_M, HNSW_EF = 16, 100
SEARCH_THREADS = min(4, os.cpu_count() or 1)


class Config:
    """A collection's vectors by name: sizes of the dense ones, names of the sparse ones."""

    def __init__(self, body):
        self.body = {part: body[part] for part in ("vectors", "sparse_vectors") if body.get(part)}
        vectors = self.body.get("vectors", {})
        self.vectors = {"": vectors} if "size" in vectors else vectors
        self.dense = {name: params["size"] for name, params in self.vectors.items()}
        self.sparse = set(self.body.get("sparse_vectors", {}))

    def vectors_kb(self, points):
        """Returns the size in KB of the dense vectors of this many points, if each has all of them."""
        return points * sum(self.dense.values()) * 4 // 1024

    def for_engine(self, indexing_threshold_kb):
        for params in self.vectors.values():
            if params["distance"] not in DISTANCES:
                raise bad_format(f"unknown distance {params['distance']}")
            if params.get("multivector_config"):
                raise bad_format("multivectors are not offered by the embedded engine")
        dense = {
            name: engine.EdgeVectorParams(size=params["size"], distance=DISTANCES[params["distance"]])
            for name, params in self.vectors.items()
        }
        sparse = {
            name: engine.EdgeSparseVectorParams(
                modifier=engine.Modifier.Idf if (params or {}).get("modifier") == "idf" else None
            )
            for name, params in self.body.get("sparse_vectors", {}).items()
        }
        return engine.EdgeConfig(
            vectors=dense.get("", dense) or None,
            sparse_vectors=sparse or None,
            # Up to this size of the points that match a filter, a search scans them exactly: the index sometimes finds
            # only half of them.
            hnsw_config=engine.HnswIndexConfig(HNSW_M, HNSW_EF, indexing_threshold_kb),
            optimizers=engine.EdgeOptimizersConfig(indexing_threshold=indexing_threshold_kb),
            max_search_threads=SEARCH_THREADS,
        )
