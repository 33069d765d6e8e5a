/** The plain script that a user of LangChain.js would write: load the sitemap, split by tokens, store. */
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';

import { SitemapLoader } from '@langchain/community/document_loaders/web/sitemap';
import type { Document } from '@langchain/core/documents';
import { QdrantVectorStore } from '@langchain/qdrant';
import { RecursiveCharacterTextSplitter } from '@langchain/textsplitters';
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import { getEncoding } from 'js-tiktoken';

import { type Orders, peer, timed } from './peer.js';
import { SharedEmbeddings } from './sharedEmbeddings.js';

/** One upsert of everything is refused by Qdrant's limit on a body, so that the script must cut it. */
const DOCUMENTS_PER_UPSERT = 1_000;

async function writeLines(file: string, chunks: Document[]): Promise<void> {
  const out = createWriteStream(file);
  for (const { pageContent, metadata } of chunks) {
    if (!out.write(`${JSON.stringify({ pageContent, metadata })}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}

async function storeVectors(chunks: Document[], vectors: NonNullable<Orders['vectors']>): Promise<void> {
  const embeddings = new SharedEmbeddings(vectors);
  const store = new QdrantVectorStore(embeddings, { url: vectors.qdrantUrl, collectionName: `peer-${process.pid}` });
  for (let from = 0; from < chunks.length; from += DOCUMENTS_PER_UPSERT) {
    await store.addDocuments(chunks.slice(from, from + DOCUMENTS_PER_UPSERT));
  }
}

const encoding = getEncoding('cl100k_base');
/** The service's own tokenizer is the faster by far; LangChain.js brings js-tiktoken. */
const LENGTH = {
  'gpt-tokenizer': (text: string) => countTokens(text),
  'js-tiktoken': (text: string) => encoding.encode(text).length,
};

await peer(async ({ sitemap, chunkSize, chunkOverlap, tokenizer, outFile, vectors }) => {
  const steps: Record<string, number> = {};
  // Only the main text, so that both sides chunk and embed about the same words.
  const loader = new SitemapLoader(sitemap, { selector: 'main' });
  const splitter = new RecursiveCharacterTextSplitter({
    chunkSize,
    chunkOverlap,
    lengthFunction: LENGTH[tokenizer],
  });
  const pages = await timed(steps, 'load', () => loader.load());
  const chunks = await timed(steps, 'split', () => splitter.splitDocuments(pages));
  if (outFile !== null) await timed(steps, 'write', () => writeLines(outFile, chunks));
  if (vectors) await timed(steps, 'embed and store', () => storeVectors(chunks, vectors));
  return { pages: pages.length, chunks: chunks.length, steps };
});
