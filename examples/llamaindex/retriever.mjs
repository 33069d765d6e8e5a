import { BaseRetriever } from '@llamaindex/core/retriever';
import { TextNode } from '@llamaindex/core/schema';

/** Finds passages among the files of one end user, for any query engine that takes a retriever. */
export class AllotropeRetriever extends BaseRetriever {
  /** @param options URL of the service, access token of the user, and maximum number of passages */
  constructor({ url, token, k = 4 }) {
    super();
    Object.assign(this, { url, token, k });
  }

  async _retrieve({ query }) {
    const response = await fetch(`${this.url}/embeddings`, {
      method: 'POST',
      headers: { authorization: `Token ${this.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, k: this.k, hybrid_search: true }),
    });
    if (!response.ok) throw new Error(`The search was answered ${response.status}: ${await response.text()}`);
    const { documents } = await response.json();
    return documents.map(({ content, source, source_url: url, file_id: fileId, score, content_metadata: place }) => ({
      node: new TextNode({
        text: content,
        metadata: { source, url, fileId, page: place?.pg_start ?? null, boxes: place?.boxes ?? [] },
      }),
      score,
    }));
  }
}
