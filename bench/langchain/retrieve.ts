/**
 * The programs with which `bench:retrieval` compares the service: LangChain.js as a user would set it up, and BM25 over
 * the same chunks.
 */
import { readFile } from 'node:fs/promises';

import { Document } from '@langchain/core/documents';
import { QdrantVectorStore } from '@langchain/qdrant';
import { RecursiveCharacterTextSplitter } from '@langchain/textsplitters';
import { countTokens } from 'gpt-tokenizer/encoding/cl100k_base';
import bm25 from 'wink-bm25-text-search';
import nlp from 'wink-nlp-utils';

import type { RetrievalDone, RetrievalOptions } from '../retrieval/baselineOptions.js';
import type { QuestionSet } from '../retrieval/questionSet.js';
import { SharedEmbeddings } from './sharedEmbeddings.js';

/** Qdrant's limit on request bodies rejects a single upsert of all documents. */
const DOCUMENTS_PER_UPSERT = 1_000;

/**
 * Returns a BM25 search that prepares texts as in wink's documentation: lower case, without stop words, stemmed.
 * Parameters: k1 = 1.2, b = 0.75.
 */
function searchWords(chunks: readonly Document[]): (query: string, depth: number) => number[] {
  const engine = bm25();
  engine.defineConfig({ fldWeights: { body: 1 } });
  engine.definePrepTasks([
    nlp.string.lowerCase,
    nlp.string.removeExtraSpaces,
    nlp.string.tokenize0,
    nlp.tokens.removeWords,
    nlp.tokens.stem,
    nlp.tokens.propagateNegations,
  ]);
  for (const [index, { pageContent }] of chunks.entries()) engine.addDoc({ body: pageContent }, index);
  engine.consolidate();
  return (query, depth) => engine.search(query, depth).map(([index]: [string, number]) => Number(index));
}

const { file, chunkSize, chunkOverlap, depth, vectors } = JSON.parse(process.argv[2] ?? '') as RetrievalOptions;
const { passages, questions } = JSON.parse(await readFile(file, 'utf8')) as QuestionSet;
const splitter = new RecursiveCharacterTextSplitter({
  chunkSize,
  chunkOverlap,
  lengthFunction: (text) => countTokens(text),
});
const pages = passages.map(({ id, text }) => new Document({ pageContent: text, metadata: { passage: id } }));
const chunks = (await splitter.splitDocuments(pages)).map(
  ({ pageContent, metadata }, chunk) => new Document({ pageContent, metadata: { ...metadata, chunk } }),
);
const byWords = searchWords(chunks);
const store = new QdrantVectorStore(new SharedEmbeddings(vectors), {
  url: vectors.qdrantUrl,
  collectionName: `baseline-${process.pid}`,
});
for (let from = 0; from < chunks.length; from += DOCUMENTS_PER_UPSERT)
  await store.addDocuments(chunks.slice(from, from + DOCUMENTS_PER_UPSERT));
const dense: number[][] = [];
for (const { text } of questions) {
  const found = await store.similaritySearch(text, depth);
  dense.push(found.map(({ metadata }) => metadata['chunk'] as number));
}
const done: RetrievalDone = {
  passages: chunks.map(({ metadata }) => metadata['passage'] as number),
  dense,
  bm25: questions.map(({ text }) => byWords(text, depth)),
};
process.send?.(done, () => process.exit(0));
