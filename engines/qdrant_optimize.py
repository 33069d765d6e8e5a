"""Optimises one shard that no other process has open, then exits. It also exits when its parent does.

usage: qdrant_optimize.py PARENT_PID SHARD_FOLDER
"""

import ctypes
import os
import signal
import sys

import qdrant_edge as engine

PR_SET_PDEATHSIG = 1
# Lower priority than the processes that answer requests and add points.
NICENESS = 10


def main():
    parent, folder = int(sys.argv[1]), sys.argv[2]
    # SIGKILL, because no Python signal handler runs during the optimisation, and the parent has blocked SIGTERM.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the parent is gone")
    os.nice(NICENESS)
    shard = engine.EdgeShard.load(folder)
    shard.optimize()
    shard.close()
    # SHARD_FOLDER is a copy that the parent has made of a shard. The engine flushes only the files that it wrote; the
    # other files of the copy may not be on the disk yet.
    os.sync()


main()
