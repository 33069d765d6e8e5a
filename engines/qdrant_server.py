"""The embedded Qdrant: its engine behind its REST interface, on loopback.

usage: qdrant_server.py DATA_FOLDER PORT [THRESHOLD_KB [KEPT_POINTS]]

THRESHOLD_KB is the size of a collection's vectors above which an index is built. KEPT_POINTS is the maximum number of
points written during the build; above it the build is cancelled. Only tests set them. Their defaults are those of
qdrant_rest.collections.Limits.
"""

import signal
import sys
import threading

from qdrant_rest.collections import Collections
from qdrant_rest.server import Server


def main():
    folder, port = sys.argv[1], int(sys.argv[2])
    # Block the signals before any thread starts, so that all threads leave them to the main thread. A handler that sets
    # an event could deadlock if it ran just before the wait for that event.
    stop_signals = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, stop_signals)

    try:
        collections = Collections(folder, *map(int, sys.argv[3:]))
    except BlockingIOError:
        sys.exit(f"{folder} is in use by another process")
    server = Server(port, collections)
    for work in (server.serve_forever, lambda: collections.maintain(server.is_idle)):
        threading.Thread(target=work, daemon=True).start()
    print(f"listening on 127.0.0.1:{port}", flush=True)

    signal.sigwait(stop_signals)
    collections.close()


main()
