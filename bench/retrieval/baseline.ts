import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import type { EmbeddingModel } from '../../engines/embeddingModel.js';
import { forkModule } from '../site.js';
import type { RetrievalDone, RetrievalOptions } from './baselineOptions.js';
import type { QuestionSet } from './questionSet.js';

interface BaselineOptions {
  readonly chunk_size: number;
  readonly chunk_overlap: number;
  readonly depth: number;
  readonly vectors: EmbeddingModel & { readonly qdrantUrl: string; readonly threads: number };
}

/** Runs LangChain.js and BM25 over a question set, in a separate process. @throws Error if it ends without a result */
export async function runRetrievalBaseline(
  folder: string,
  set: QuestionSet,
  options: BaselineOptions,
): Promise<RetrievalDone> {
  const file = path.join(folder, 'questions.json');
  await writeFile(file, JSON.stringify(set));
  const { chunk_size: chunkSize, chunk_overlap: chunkOverlap, depth, vectors } = options;
  const baselineOptions: RetrievalOptions = { file, chunkSize, chunkOverlap, depth, vectors };
  const child = forkModule('langchain/retrieve.ts', [JSON.stringify(baselineOptions)]);
  const ended = once(child, 'exit');
  const done = await Promise.race([
    once(child, 'message').then(([message]) => message as RetrievalDone),
    ended.then(([code]) => {
      throw new Error(`langchain/retrieve.ts ended with code ${String(code)}; its message is above`);
    }),
  ]);
  await ended;
  return done;
}
