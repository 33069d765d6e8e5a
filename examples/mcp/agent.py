"""An agent without a model: adds a web page, searches, reads and cites it. Prints each call and its result."""

import asyncio
import json
import os

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

URL = os.environ.get("ALLOTROPE_URL", "http://localhost:8000")
PAGE = os.environ.get("PAGE", "https://example.com/")
QUESTION = os.environ.get("QUESTION", "What may this domain be used for?")


def token() -> str:
    """Returns an access token of the end user alice with write access. Call this on your server only."""
    headers = {"authorization": f"Bearer {os.environ['API_KEY']}", "customer-id": "alice"}
    answer = httpx2.get(f"{URL}/auth/v1/access_token", params={"scope": "read write"}, headers=headers)
    return answer.raise_for_status().json()["access_token"]


def short(value: object) -> object:
    """Returns a result in which long texts are shortened."""
    if isinstance(value, dict):
        return {key: short(item) for key, item in value.items() if key != "notice"}
    if isinstance(value, list):
        return [short(item) for item in value]
    return f"{value[:160]}…" if isinstance(value, str) and len(value) > 160 else value


async def main() -> None:
    headers = {"authorization": f"Bearer {token()}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        async with Client(streamable_http_client(f"{URL}/mcp", http_client=http)) as agent:

            async def call(name: str, **arguments: object) -> dict:
                result = await agent.call_tool(name, arguments)
                if result.is_error:
                    raise SystemExit(result.content[0].text)
                print(f"> {name} {json.dumps(arguments)}")
                print(json.dumps(short(result.structured_content), indent=2, ensure_ascii=False))
                return result.structured_content

            file_id = (await call("add_url", url=PAGE))["file_id"]
            while not (await call("sync_status", file_id=file_id))["is_done"]:
                await asyncio.sleep(1)
            passages = (await call("search", query=QUESTION, file_ids=[file_id], limit=1))["passages"]
            if not passages:
                raise SystemExit("The page has no text.")
            best = passages[0]
            part = await call("read_file", file_id=best["file_id"], max_characters=1000)
            quoted = " ".join(part["text"].split())[:200]
            print(f"“{quoted}…” [{best['name']}]({best['url']})")


asyncio.run(main())
