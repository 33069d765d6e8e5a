/**
 * Emulates a reranker with the API of Cohere on loopback. Real rerankers are hosted models that read query and text
 * together. This one uses the embedded model sentence by sentence, because a reranker sees details that one vector of a
 * whole chunk averages out, and adds the share of the query's words in a sentence.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { EmbeddingModel } from '../../engines/embeddingModel.js';
import { createLocalProvider } from '../../providers/embeddings/providers/local.js';
import { createEmbeddings } from '../../providers/embeddings/registry.js';
import { encodeQuery } from '../../providers/embeddings/sparse/sparseEncoder.js';

export interface RerankServer {
  readonly baseUrl: string;
  readonly host: string;
  stop(): Promise<void>;
}

interface RerankRequest {
  readonly query: string;
  readonly documents: readonly string[];
  readonly top_n: number;
}

/** Maximum length of a piece: one sentence, or a few short ones. */
const PIECE_CHARACTERS = 240;
const THREADS = 2;
/**
 * Weights of the share of the query's words in a piece, and of the mean similarity of all pieces. Both are added to the
 * similarity of a piece, from -1 to 1.
 */
const WORDS_WEIGHT = 0.35;
const MEAN_WEIGHT = 0.25;

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Splits a text into pieces of whole sentences. Only a single long sentence exceeds the limit. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (const { segment } of segmenter.segment(text.replaceAll(/\s+/g, ' '))) {
    const last = pieces.at(-1);
    if (last !== undefined && last.length + segment.length <= PIECE_CHARACTERS)
      pieces[pieces.length - 1] = last + segment;
    else pieces.push(segment);
  }
  return pieces;
}

async function bodyOf(request: IncomingMessage): Promise<RerankRequest> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString()) as RerankRequest;
}

const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0);
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length);

/** Starts the server. Each distinct piece is embedded once. */
export async function startRerankServer(model: EmbeddingModel): Promise<RerankServer> {
  const embedder = createEmbeddings({ local: createLocalProvider({ ...model, threads: THREADS }) });
  const space = embedder.spaceOf('OPENAI').name;
  const vectorCache = new Map<string, Promise<Float32Array>>();
  const vectorOf = (piece: string): Promise<Float32Array> => {
    const cached = vectorCache.get(piece);
    if (cached) return cached;
    const fresh = embedder.embed(space, [piece], 'document').then(([vector]) => vector ?? new Float32Array());
    vectorCache.set(piece, fresh);
    return fresh;
  };

  async function rank({ query, documents, top_n: limit }: RerankRequest) {
    const [[queryVector = new Float32Array()], texts] = await Promise.all([
      embedder.embed(space, [query], 'query'),
      Promise.all(
        documents.map(async (text) => {
          const pieces = piecesOf(text);
          return {
            terms: pieces.map((piece) => new Set(encodeQuery(piece)?.indices)),
            vectors: await Promise.all(pieces.map(vectorOf)),
          };
        }),
      ),
    ]);
    const queryTerms = encodeQuery(query)?.indices ?? [];
    const rarityOf = new Map(
      queryTerms.map((term) => {
        const count = texts.filter(({ terms }) => terms.some((sentence) => sentence.has(term))).length;
        return [term, Math.log(1 + (texts.length - count + 0.5) / (count + 0.5))];
      }),
    );
    const totalRarity = [...rarityOf.values()].reduce((a, b) => a + b, 0) || 1;
    const scores = texts.map(({ terms, vectors }) => {
      const similarities = vectors.map((vector) => dot(queryVector, vector));
      const wordShares = terms.map(
        (sentence) =>
          queryTerms.reduce((sum, term) => sum + (sentence.has(term) ? (rarityOf.get(term) ?? 0) : 0), 0) / totalRarity,
      );
      const best = Math.max(...similarities.map((similarity, at) => similarity + WORDS_WEIGHT * (wordShares[at] ?? 0)));
      return best + MEAN_WEIGHT * mean(similarities);
    });
    return scores
      .map((relevance_score, index) => ({ index, relevance_score }))
      .toSorted((a, b) => b.relevance_score - a.relevance_score)
      .slice(0, limit);
  }

  const server = createServer((request, response) => {
    bodyOf(request)
      .then(rank)
      .then((results) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ results })),
      )
      .catch((error: unknown) => response.writeHead(500).end(JSON.stringify({ message: String(error) })));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl: `http://${host}`,
    host,
    async stop() {
      server.close();
      await embedder.close();
    },
  };
}
