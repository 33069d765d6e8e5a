"""Collections on disk: a folder each, with the engine's shard and, once it is whole, config.json."""

import fcntl
import itertools
import os
import re
import shutil
import threading
import time
from pathlib import Path

import orjson
import qdrant_edge as engine

from .errors import Refusal, bad_format, not_found, wrong_input

NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,254}", re.ASCII)
DISTANCES = {name: getattr(engine.Distance, name) for name in ("Cosine", "Dot", "Euclid", "Manhattan")}
# Vectors up to this size are scanned, in about 10 ms, which is exact; beyond it an index is built.
INDEXING_THRESHOLD_KB = 100_000
FLUSH_EVERY_S = 5
SEARCH_THREADS = min(4, os.cpu_count() or 1)


class Config:
    """A collection's vectors by name: sizes of the dense ones, names of the sparse ones."""

    def __init__(self, body):
        self.body = {part: body[part] for part in ("vectors", "sparse_vectors") if body.get(part)}
        vectors = self.body.get("vectors", {})
        self.vectors = {"": vectors} if "size" in vectors else vectors
        self.dense = {name: params["size"] for name, params in self.vectors.items()}
        self.sparse = set(self.body.get("sparse_vectors", {}))

    def for_engine(self):
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
            optimizers=engine.EdgeOptimizersConfig(indexing_threshold=INDEXING_THRESHOLD_KB),
            max_search_threads=SEARCH_THREADS,
        )


class Collection:
    def __init__(self, config, shard):
        self.config = config
        self.shard = shard
        self.operations = self.flushed = 0
        self.optimized = None  # an earlier process may have left work
        # A write, a flush and an optimisation never meet; reads need no lock.
        self.lock = threading.Lock()

    def update(self, operation):
        with self.lock:
            self.operations += 1
            self.shard.update(operation)
            return self.operations

    def flush(self):
        """Writes everything to its files, which also shortens the log that a start reads."""
        with self.lock:
            if self.flushed != self.operations:
                self.shard.flush()
                self.flushed = self.operations

    def optimize(self):
        """Drops deleted points and builds indexes. It holds up every request of the process while it works."""
        with self.lock:
            if self.optimized != self.operations:
                self.shard.optimize()
                self.optimized = self.operations

    def close(self):
        with self.lock:
            self.shard.flush()
            self.shard.close()


class Collections:
    """All collections under one folder, which belongs to this process alone."""

    def __init__(self, root):
        self.root = Path(root)
        self.root.mkdir(parents=True, exist_ok=True)
        self.lock_file = open(self.root / ".lock", "w")
        fcntl.flock(self.lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.changing = threading.Lock()
        self.open = {}
        self.closed = False
        for folder in self.root.iterdir():
            if folder.is_dir():
                self._load(folder)

    def _load(self, folder):
        config = folder / "config.json"
        if config.exists():
            shard = engine.EdgeShard.load(str(folder / "shard"))
            self.open[folder.name] = Collection(Config(orjson.loads(config.read_bytes())), shard)
        else:
            shutil.rmtree(folder)  # it was being made or deleted when the process ended

    def get(self, name):
        if self.closed:
            raise Refusal(503, "Service is shutting down")
        collection = self.open.get(name)
        if collection is None:
            raise not_found(f"Collection `{name}` doesn't exist!")
        return collection

    def create(self, name, body):
        if not NAME.fullmatch(name):
            raise wrong_input("a collection's name is made of letters, digits, `_`, `-` and `.`")
        config = Config(body)
        with self.changing:
            if name in self.open:
                raise Refusal(409, f"Wrong input: Collection `{name}` already exists!")
            folder = self.root / name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            shard = engine.EdgeShard.create(str(folder / "shard"), config.for_engine())
            write_whole(folder / "config.json", orjson.dumps(config.body))
            self.open[name] = Collection(config, shard)

    def delete(self, name):
        with self.changing:
            collection = self.open.pop(name, None)
            if collection is None:
                return False
            (self.root / name / "config.json").unlink()  # from here on it is gone, whatever happens
            collection.close()
            shutil.rmtree(self.root / name)
            return True

    def maintain(self, is_idle):
        """Flushes now and then, and optimises while nobody asks for anything, until all is closed."""
        for second in itertools.count():
            time.sleep(1)
            if self.closed:
                return
            for name, collection in list(self.open.items()):
                try:
                    if second % FLUSH_EVERY_S == 0:
                        collection.flush()
                    if is_idle():
                        collection.optimize()
                except BaseException as error:  # the engine's panics are no Exceptions
                    if self.open.get(name) is collection and not self.closed:
                        print(f"upkeep of {name}: {error}", flush=True)

    def close(self):
        with self.changing:
            self.closed = True
            for collection in self.open.values():
                collection.close()


def write_whole(path, content):
    """Writes a file so that it is there whole or not at all."""
    draft = path.with_suffix(".draft")
    with open(draft, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
