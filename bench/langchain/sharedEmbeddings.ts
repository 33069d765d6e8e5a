import { Embeddings } from '@langchain/core/embeddings';

import { createLocalProvider } from '../../providers/embeddings/providers/local.js';
import { createEmbeddings } from '../../providers/embeddings/registry.js';
import type { BaselineOptions } from './baseline.js';

/**
 * Adapts the service's embedding to LangChain's interface. The baseline then uses the same model, divides long texts
 * into inputs of the same number of tokens, and has the same number of processes.
 */
export class SharedEmbeddings extends Embeddings {
  private readonly embedder;
  private readonly space: string;

  constructor(local: NonNullable<BaselineOptions['vectors']>) {
    super({});
    this.embedder = createEmbeddings({ local: createLocalProvider(local) });
    this.space = this.embedder.spaceOf('OPENAI').name;
  }

  async embedDocuments(texts: string[]): Promise<number[][]> {
    const vectors = await this.embedder.embed(this.space, texts, 'document');
    return vectors.map((vector) => Array.from(vector));
  }

  async embedQuery(text: string): Promise<number[]> {
    const [vector] = await this.embedder.embed(this.space, [text], 'query');
    return Array.from(vector ?? []);
  }
}
