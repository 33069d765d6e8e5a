"""Collections on disk: one folder each, with the engine's shard and, once it is complete, config.json."""

import fcntl
import itertools
import os
import re
import shutil
import threading
import time
from pathlib import Path
from typing import NamedTuple

import orjson
import qdrant_edge as engine

from .config import Config
from .errors import Refusal, not_found, wrong_input
from .rebuild import Rebuild

NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,254}", re.ASCII)
# Maximum size in KB of a shard that is optimised in this process, while it is idle.
SMALL_KB = 10_000
# A larger shard is optimised again once this share of it has changed.
CHANGED_SHARE = 0.2
FLUSH_EVERY_S = 5


class Limits(NamedTuple):
    # A collection whose vectors take up to this size is scanned exactly, in about 10 ms; above it an index is built.
    threshold_kb: int = 100_000
    # Maximum number of points written during a rebuild, about 4 KB each; beyond it the rebuild is cancelled.
    kept_points: int = 100_000


class Collection:
    def __init__(self, config, folder, shard, limits):
        self.config = config
        self.limits = limits
        self.was_cancelled = False  # whether the last rebuild was cancelled; then the next one waits for an idle time
        self.folder = folder
        # Readers keep the shard with which they started: a replaced shard is closed when its last reader ends.
        self.shard = shard
        self.operations = self.flushed = 0
        self.optimized = None  # unknown at the start: an earlier process may have left an optimisation undone
        self.is_new = True  # whether this process has not yet built an index of the collection
        self.changed = 0  # number of points named by writes since the last build
        self.last_count = shard.info().points_count  # number of points at the last build, or at the start
        self.rebuild = None  # the rebuild in progress, which records the writes for its copy
        # The lock excludes concurrent writes, flushes and optimisations; reads need no lock.
        self.lock = threading.Lock()

    def update(self, operation, points):
        """Applies a write that names this many points."""
        with self.lock:
            self.operations += 1
            self.shard.update(operation)
            self.changed += points
            if self.rebuild is not None:
                self.rebuild.record(operation, points)
            return self.operations

    def flush(self):
        """Flushes everything to its files, which also truncates the log that a start replays."""
        with self.lock:
            if self.flushed != self.operations:
                self.shard.flush()
                self.flushed = self.operations

    def optimize(self):
        """Removes deleted points and merges segments. Blocks all requests of the process meanwhile."""
        with self.lock:
            if self.optimized != self.operations:
                self.shard.optimize()
                self.optimized = self.operations

    def is_small(self):
        return self.config.vectors_kb(self.shard.info().points_count) <= min(SMALL_KB, self.limits.threshold_kb)

    def rebuild_if_due(self, is_idle):
        """Starts an index build if enough has changed: immediately if many points have no index, else when idle."""
        info = self.shard.info()
        unindexed = info.points_count - info.indexed_vectors_count // max(1, len(self.config.dense))
        many_unindexed = self.config.vectors_kb(unindexed) > self.limits.threshold_kb
        # A write by a filter names no points, but its deletes change the number of points.
        changed = max(self.changed, abs(info.points_count - self.last_count))
        many_changed = changed > CHANGED_SHARE * info.points_count
        is_due = many_unindexed and (many_changed or self.is_new) and not self.was_cancelled
        if not is_due and not ((many_changed or self.was_cancelled) and is_idle):
            return None
        self.was_cancelled = False
        self.changed, self.last_count, self.is_new = 0, info.points_count, False
        return Rebuild(self)

    def replace(self, shard, folder):
        """Replaces the shard by one with the same content. Returns the folder that is no longer needed."""
        write_config(folder.parent, self.config, folder)
        obsolete, self.folder, self.shard = self.folder, folder, shard
        return obsolete

    def close(self):
        with self.lock:
            self.shard.flush()
            self.shard.close()


class Collections:
    """All collections in one folder, which only this process may use."""

    def __init__(self, root, *limits):
        self.root = Path(root)
        self.limits = Limits(*limits)
        self.root.mkdir(parents=True, exist_ok=True)
        self.lock_file = open(self.root / ".lock", "w")
        fcntl.flock(self.lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.changing = threading.Lock()
        self.open = {}
        # Collections whose files the engine rejects, by name, with its reason. The others are served.
        self.damaged = {}
        self.closed = False
        self.rebuild = None  # the rebuild in progress; only one collection is rebuilt at a time
        for folder in self.root.iterdir():
            if folder.is_dir():
                try:
                    self._load(folder)
                except BaseException as error:  # a panic of the engine is not an Exception
                    self.damaged[folder.name] = str(error)
                    print(f"collection {folder.name} is damaged: {error}", flush=True)

    def _load(self, folder):
        path = folder / "config.json"
        if not path.exists():
            shutil.rmtree(folder)  # the process ended while it created or deleted the collection
            return
        body = orjson.loads(path.read_bytes())
        current = folder / body.get("shard", "shard")
        for other in folder.iterdir():
            if other.is_dir() and other != current:
                # A replacement that was not finished, or a shard that was replaced. Ignore errors: the `cp` of an
                # earlier process may still be writing. The next start deletes the rest.
                shutil.rmtree(other, ignore_errors=True)
        shard = engine.EdgeShard.load(str(current))
        self.open[folder.name] = Collection(Config(body), current, shard, self.limits)

    def get(self, name):
        if self.closed:
            raise Refusal(503, "Service is shutting down")
        if name in self.damaged:
            raise Refusal(500, f"Service internal error: Collection `{name}` is damaged: {self.damaged[name]}")
        collection = self.open.get(name)
        if collection is None:
            raise not_found(f"Collection `{name}` doesn't exist!")
        return collection

    def names(self):
        return sorted([*self.open, *self.damaged])

    def exists(self, name):
        return name in self.open or name in self.damaged

    def create(self, name, body):
        if not NAME.fullmatch(name):
            raise wrong_input("a collection's name is made of letters, digits, `_`, `-` and `.`")
        config = Config(body)
        with self.changing:
            if self.exists(name):
                raise Refusal(409, f"Wrong input: Collection `{name}` already exists!")
            folder = self.root / name
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            current = folder / "shard"
            shard = engine.EdgeShard.create(str(current), config.for_engine(self.limits.threshold_kb))
            write_config(folder, config, current)
            self.open[name] = Collection(config, current, shard, self.limits)

    def delete(self, name):
        with self.changing:
            if self.damaged.pop(name, None) is not None:
                (self.root / name / "config.json").unlink(missing_ok=True)
                shutil.rmtree(self.root / name)
                return True
            collection = self.open.pop(name, None)
            if collection is None:
                return False
            (self.root / name / "config.json").unlink()  # without config.json, the next start deletes the rest
            if self.rebuild is not None and self.rebuild.collection is collection:
                self.rebuild.end()
            collection.close()
            shutil.rmtree(self.root / name)
            return True

    def maintain(self, is_idle):
        """Flushes periodically, optimises while idle and starts index builds, until all collections are closed."""
        for second in itertools.count():
            time.sleep(1)
            for name, collection in list(self.open.items()):
                if self.closed:
                    return
                try:
                    if second % FLUSH_EVERY_S == 0:
                        collection.flush()
                    self._optimize(name, collection, is_idle())
                except BaseException as error:  # a panic of the engine is not an Exception
                    if self.open.get(name) is collection and not self.closed:
                        print(f"flushing or optimising {name} failed, trying again: {error}", flush=True)

    def _optimize(self, name, collection, is_idle):
        if collection.is_small():
            if is_idle:
                collection.optimize()
            return
        with self.changing:
            is_there = self.open.get(name) is collection and not self.closed
            if is_there and not (self.rebuild is not None and self.rebuild.is_running()):
                self.rebuild = collection.rebuild_if_due(is_idle)

    def is_rebuilding(self, collection):
        rebuild = self.rebuild
        return rebuild is not None and rebuild.collection is collection and rebuild.is_running()

    def close(self):
        with self.changing:
            self.closed = True
            if self.rebuild is not None:
                self.rebuild.end()
            for collection in self.open.values():
                collection.close()


def write_config(folder, config, shard_folder):
    write_whole(folder / "config.json", orjson.dumps({**config.body, "shard": shard_folder.name}))


def write_whole(path, content):
    """Writes a file atomically."""
    draft = path.with_suffix(".draft")
    with open(draft, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)
    folder = os.open(path.parent, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
