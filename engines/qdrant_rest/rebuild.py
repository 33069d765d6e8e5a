"""Builds the indexes of a large collection in a separate process.

The engine's optimisation blocks its process until it ends, for minutes with some hundred thousand points. So a child
process optimises a copy of the shard. Meanwhile this process answers requests and records all writes. When the child
has finished, this process applies the writes to the copy and replaces the shard by it.
"""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import qdrant_edge as engine

OPTIMIZE = Path(__file__).parent.parent / "qdrant_optimize.py"
# At most this many recorded writes are left for the last step, which blocks new writes.
LAST_WRITES = 2


class Rebuild:
    """Rebuilds a collection's shard; ends by itself, or soon after cancel()."""

    def __init__(self, collection):
        self.collection = collection
        self.name = collection.folder.parent.name
        self.draft = next_folder(collection.folder)
        self.writes = []
        self.points = 0
        self.child = None
        self.cancelled = False
        self.starting = threading.Lock()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def is_running(self):
        return self.thread.is_alive()

    def cancel(self):
        with self.starting:
            self.cancelled = True
            if self.child is not None:
                self.child.kill()

    def end(self):
        """Cancels the rebuild and waits until its files are removed."""
        self.cancel()
        self.thread.join()

    def record(self, operation, points):
        """Records a write that the shard has applied; the caller holds the collection's lock."""
        self.writes.append(operation)
        self.points += points
        if self.points > self.collection.limits.kept_points and not self.cancelled:
            self._log("cancelled: too much was written meanwhile")
            self.collection.was_cancelled = True
            self.cancel()

    def _log(self, what):
        print(f"indexing {self.name}: {what}", flush=True)

    def _run(self):
        obsolete = self.draft
        try:
            self._copy()
            if self._optimize():
                obsolete = self._replace_shard() or self.draft
        except BaseException as error:  # a panic of the engine is not an Exception
            if not self.cancelled:
                self._log(error)
        finally:
            with self.collection.lock:
                self.collection.rebuild = None
            shutil.rmtree(obsolete, ignore_errors=True)

    def _copy(self):
        """Copies the shard and starts to record writes. Writers wait meanwhile, readers do not."""
        shutil.rmtree(self.draft, ignore_errors=True)
        with self.collection.lock:
            self.collection.shard.flush()
            copy = ["cp", "-a", "-T", "--reflink=auto", str(self.collection.folder), str(self.draft)]
            subprocess.run(copy, check=True)
            self.collection.rebuild = self

    def _optimize(self):
        with self.starting:
            if self.cancelled:
                return False
            self.child = subprocess.Popen([sys.executable, str(OPTIMIZE), str(os.getpid()), str(self.draft)])
        status = self.child.wait()
        if status != 0 and not self.cancelled:
            self._log(f"the process that optimises the copy ended with status {status}; the shard stays unchanged")
        return status == 0

    def _replace_shard(self):
        """Replaces the shard. Returns the folder that is no longer needed; None if nothing changed."""
        shard = engine.EdgeShard.load(str(self.draft))
        done = 0
        while len(self.writes) - done > LAST_WRITES and not self.cancelled:
            done = self._apply_writes(shard, done)
        with self.collection.lock:
            self._apply_writes(shard, done)
            shard.flush()
            return None if self.cancelled else self.collection.replace(shard, self.draft)

    def _apply_writes(self, shard, done):
        """Applies the recorded writes from `done` on, unless cancelled. Returns the number of applied writes."""
        for operation in self.writes[done:]:
            if self.cancelled:
                break
            shard.update(operation)
            done += 1
        return done


def next_folder(folder):
    """Returns the name of the next folder: `shard-1` after `shard`, then `shard-2`."""
    name, _, number = folder.name.partition("-")
    return folder.with_name(f"{name}-{int(number or 0) + 1}")
