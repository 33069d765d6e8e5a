"""Optimises one shard that no other process has open, then exits; it exits with its parent at the latest.

usage: qdrant_optimize.py PARENT_PID SHARD_FOLDER
"""

import ctypes
import os
import signal
import sys

import qdrant_edge as engine

PR_SET_PDEATHSIG = 1
# Lower priority than requests, and than the process that adds points.
NICENESS = 10


def main():
    parent, folder = int(sys.argv[1]), sys.argv[2]
    # While the engine works, no Python handler would run, and the parent blocked SIGTERM.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the parent is gone")
    os.nice(NICENESS)
    shard = engine.EdgeShard.load(folder)
    shard.optimize()
    shard.close()
    # The engine flushes the files that it wrote; those taken over from the copy are not on the disk yet.
    os.sync()


main()
