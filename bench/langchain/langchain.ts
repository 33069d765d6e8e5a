/** A plain LangChain.js script as a user would write it: load the sitemap, split by tokens, store. */
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';

import { SitemapLoader } from '@langchain/community/document_loaders/web/sitemap';
import type { Document } from '@langchain/core/documents';
import { QdrantVectorStore } from '@langchain/qdrant';
import { RecursiveCharacterTextSplitter } from '@langchain/textsplitters';
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import { getEncoding } from 'js-tiktoken';

import { type BaselineOptions, baseline, timed } from './baseline.js';
import { SharedEmbeddings } from './sharedEmbeddings.js';

/** Qdrant's limit on request bodies rejects a single upsert of all documents, so the script sends batches. */
const DOCUMENTS_PER_UPSERT = 1_000;

async function writeLines(file: string, chunks: Document[]): Promise<void> {
  const out = createWriteStream(file);
  for (const { pageContent, metadata } of chunks) {
    if (!out.write(`${JSON.stringify({ pageContent, metadata })}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}

async function storeVectors(chunks: Document[], vectors: NonNullable<BaselineOptions['vectors']>): Promise<void> {
  const embeddings = new SharedEmbeddings(vectors);
  const store = new QdrantVectorStore(embeddings, {
    url: vectors.qdrantUrl,
    collectionName: `baseline-${process.pid}`,
  });
  for (let from = 0; from < chunks.length; from += DOCUMENTS_PER_UPSERT) {
    await store.addDocuments(chunks.slice(from, from + DOCUMENTS_PER_UPSERT));
  }
}

const encoding = getEncoding('cl100k_base');
/** LangChain.js ships with js-tiktoken. gpt-tokenizer is much faster. */
const LENGTH = {
  'gpt-tokenizer': (text: string) => countTokens(text),
  'js-tiktoken': (text: string) => encoding.encode(text).length,
};

await baseline(async ({ sitemap, chunkSize, chunkOverlap, tokenizer, outFile, vectors }) => {
  const steps: Record<string, number> = {};
  // Load only the main text, so that LangChain.js and the service chunk and embed about the same words.
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
