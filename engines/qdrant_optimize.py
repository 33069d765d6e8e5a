"""Optimises one shard, which nobody else has open, and ends: with its parent at the latest.

usage: qdrant_optimize.py PARENT_PID SHARD_FOLDER
"""

import ctypes
import os
import signal
import sys

import qdrant_edge as engine

PR_SET_PDEATHSIG = 1
# Behind requests, beside the work that brings points.
NICENESS = 10


def main():
    parent, folder = int(sys.argv[1]), sys.argv[2]
    # While the engine works no handler of ours would run, and SIGTERM was blocked by the parent.
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit("the parent is gone")
    os.nice(NICENESS)
    shard = engine.EdgeShard.load(folder)
    shard.optimize()
    shard.close()
    # The engine writes down what it made; what it only took along from the copy is not on the disk yet.
    os.sync()


main()
