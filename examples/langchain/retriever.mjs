import { Document } from '@langchain/core/documents';
import { BaseRetriever } from '@langchain/core/retrievers';

/** Finds passages among the files of one end user, for any chain that takes a retriever. */
export class AllotropeRetriever extends BaseRetriever {
  lc_namespace = ['allotrope'];

  /** @param fields service URL, access token of the user, maximum number of passages, and options of LangChain */
  constructor({ url, token, k = 4, ...fields }) {
    super(fields);
    Object.assign(this, { url, token, k });
  }

  async _getRelevantDocuments(query) {
    const response = await fetch(`${this.url}/embeddings`, {
      method: 'POST',
      headers: { authorization: `Token ${this.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, k: this.k, hybrid_search: true }),
    });
    if (!response.ok) throw new Error(`The search was answered ${response.status}: ${await response.text()}`);
    const { documents } = await response.json();
    return documents.map(
      ({ content, source, source_url: url, file_id: fileId, score, content_metadata: place }) =>
        new Document({
          pageContent: content,
          metadata: { source, url, fileId, score, page: place?.pg_start ?? null, boxes: place?.boxes ?? [] },
        }),
    );
  }
}
