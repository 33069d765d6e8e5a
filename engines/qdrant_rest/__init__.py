"""Qdrant's REST interface over its engine in this process: for one machine and for tests.

- server.py receives requests, and routes.py maps each to its handler.
- collections.py stores the data, config.py parses the configuration of a collection, rebuild.py builds indexes.
- ids.py, points.py, filters.py, requests.py and answers.py convert between JSON and the engine's types.
- errors.py converts the engine's errors to the server's messages and statuses.
"""
