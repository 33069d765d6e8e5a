"""Uploads a report for the end user alice, searches it and prints the passages with their pages."""

import os
import sys
import time
from pathlib import Path

from carbon import Carbon

REPORT = Path(__file__).parent / "../../test/fixtures/documents/libreoffice/report.pdf"
carbon = Carbon(
    host=os.environ.get("ALLOTROPE_URL", "http://localhost:8000"),
    api_key=os.environ["API_KEY"],
    customer_id="alice",
)


def report():
    """Returns the record of the report, or None."""
    found = carbon.files.query_user_files(filters={"name": "report.pdf"}).results
    return found[0] if found else None


if report() is None:
    with open(REPORT, "rb") as document:
        carbon.files.upload(file=document, chunk_size=100, generate_sparse_vectors=True)
while report().sync_status != "READY":
    if report().sync_status == "SYNC_ERROR":
        sys.exit(report().sync_error_message)
    time.sleep(0.5)

question = sys.argv[1] if len(sys.argv) > 1 else "How deep is the entrance at low water?"
for document in carbon.embeddings.get_documents(query=question, k=2, hybrid_search=True).documents:
    page = document.content_metadata["pg_start"]
    print(f"[{document.source}, page {page}] {' '.join(document.content.split())}")
