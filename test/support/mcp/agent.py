"""An agent with the public Python client: adds a page, waits until it is synced, searches and reads it. Prints JSON."""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(endpoint: str, token: str, page: str, question: str) -> None:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
        async with Client(streamable_http_client(endpoint, http_client=http)) as client:

            async def call(name: str, **arguments: object) -> dict:
                result = await client.call_tool(name, arguments)
                if result.is_error:
                    raise RuntimeError(result.content[0].text)
                return result.structured_content

            tools = (await client.list_tools()).tools
            added = (await call("add_url", url=page))["file_id"]
            while not (await call("sync_status", file_id=added))["is_done"]:
                await asyncio.sleep(0.2)
            found = (await call("search", query=question, file_ids=[added], limit=1))["passages"]
            read = await call("read_file", file_id=found[0]["file_id"])
            names = [tool.name for tool in tools]
            print(json.dumps({"tools": names, "url": found[0]["url"], "text": read["text"]}))


asyncio.run(main(*sys.argv[1:]))
