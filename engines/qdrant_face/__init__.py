"""Qdrant's REST interface over its engine in this process: for one machine and for tests.

server.py takes requests, routes.py says what each does, collections.py keeps the data, config.py knows what it is made
of, rebuild.py has indexes built, ids.py, points.py, filters.py, requests.py and answers.py translate between JSON and
the engine's types, errors.py gives its errors the server's words and statuses.
"""
