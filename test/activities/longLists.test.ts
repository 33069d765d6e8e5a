/** Tests of lists that are processed in parts: each element is processed once, whatever the length. */
import { expect, test } from '@jest/globals';

import { embedChunks } from '../../activities/ingest/prepare/embedTexts.js';
import { removeMissing } from '../../activities/quarantine/removeMissing.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

const NEVER = new AbortController().signal;

test('moves every missing file and its descendants into quarantine once', () =>
  everyRow([1, 200, 201, 450], String, async (files) => {
    const ids = Array.from({ length: files }, (_, nth) => nth + 1);
    const below = [1, 10_001, 10_002];
    const { stores, of } = recorder({
      'files.expand': { parentFileIds: ids },
      'files.ids': below,
      'quarantine.listClaimed': [],
    });
    const deps = { store: stores, settings: { quarantineMs: 1_000 } } as never;
    await removeMissing({ _id: 7, organizationId: 1, userId: 2 } as never, ids, deps, NEVER);
    const batches = of('quarantine.moveIn').map(([, batch]) => batch as number[]);
    expect(batches.flat()).toEqual([...ids, 10_001, 10_002]);
    expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(200);
  }));

test('returns the vector of each chunk of a long document, in its order', () =>
  everyRow([1, 2_000, 2_001, 4_500], String, async (chunks) => {
    const words = Array.from({ length: chunks }, (_, nth) => `word ${nth}`);
    const text = words.join('\n');
    let start = 0;
    const cuts = words.map((word) => {
      const cut = { start, end: start + word.length, tokens: 2 };
      start = cut.end + 1;
      return cut;
    });
    const counted: number[] = [];
    const vectorOf = (chunkText: string): Float32Array => Float32Array.of(Number(chunkText.split(' ').at(-1)));
    const store = {
      embeddingUsage: { count: () => undefined },
      vectorCache: {
        resolve: (_organization: number, _space: unknown, texts: readonly string[]) => {
          counted.push(texts.length);
          return Promise.resolve(texts.map(vectorOf));
        },
      },
    };
    const deps = { store, metrics: { embedded: () => undefined } } as never;
    const document = { prefix: 'Of a site.\n\n', text, cuts } as never;
    const owner = { organizationId: 1, userId: 2 };
    const space = { name: 's', dimensions: 1 };
    const vectors = await embedChunks(owner, space, document, { deps, signal: NEVER, tokens: null });
    expect(vectors.map(([firstNumber]) => firstNumber)).toEqual(words.map((_, nth) => nth));
    expect(Math.max(...counted)).toBeLessThanOrEqual(2_000);
  }));
