"""Runs a program that ends with its parent, even when the parent is killed with SIGKILL.

The kernel sends SIGTERM to this process when its parent dies. This setting survives execv. execv keeps
the process id, so the id that the parent received for this script is also the program's. (The kernel counts the thread
that spawned this process as its parent: spawn from the main thread.)

usage: run_child.py PARENT_PID PROGRAM [ARGUMENT...]
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main():
    parent, program = int(sys.argv[1]), sys.argv[2:]
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
        sys.exit(f"prctl failed: {os.strerror(ctypes.get_errno())}")
    # The parent may have died before prctl took effect; then no signal would arrive.
    if os.getppid() != parent:
        sys.exit("the parent is gone")
    os.execv(program[0], program)


main()
