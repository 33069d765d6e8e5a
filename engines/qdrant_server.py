"""The embedded Qdrant: its engine behind its REST interface, on loopback.

usage: qdrant_server.py DATA_FOLDER PORT
"""

import signal
import sys
import threading

from qdrant_face.collections import Collections
from qdrant_face.server import Server


def main():
    folder, port = sys.argv[1], int(sys.argv[2])
    ending = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ending.set())

    try:
        collections = Collections(folder)
    except BlockingIOError:
        sys.exit(f"{folder} is in use by another process")
    server = Server(port, collections)
    for work in (server.serve_forever, lambda: collections.maintain(server.is_idle)):
        threading.Thread(target=work, daemon=True).start()
    print(f"listening on 127.0.0.1:{port}", flush=True)

    ending.wait()
    collections.close()


main()
