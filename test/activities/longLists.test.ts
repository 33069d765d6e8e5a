/** Tests of lists that are processed in parts: each element is processed once, whatever the length. */
import { expect, test } from '@jest/globals';

import { embedChunks } from '../../activities/ingest/prepare/embedTexts.js';
import { removeMissing } from '../../activities/quarantine/removeMissing.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

const NEVER = new AbortController().signal;

/** How missing files are removed: the quarantine in milliseconds, and the write that receives the ids of each step. */
const REMOVALS: readonly (readonly [
  quarantineMs: number,
  write: string,
  idsOf: (args: readonly unknown[]) => unknown,
])[] = [
  [1_000, 'quarantine.moveIn', ([, batch]) => batch],
  [0, 'files.remove', ([, , batch]) => batch],
];
const COUNTS = [1, 200, 201, 450];

test('removes every missing file and its descendants once, in small steps, and children before their parents', () =>
  everyRow(
    REMOVALS.flatMap((removal) => COUNTS.map((files) => [files, ...removal] as const)),
    ([files, quarantineMs]) => `${files} files, quarantine of ${quarantineMs} ms`,
    async ([files, quarantineMs, write, idsOf]) => {
      const ids = Array.from({ length: files }, (_, nth) => nth + 1);
      // Attachments: 10,001, 10,002 and the last missing file belong to file 1, and 9,000 belongs to 10,001.
      const children: Record<number, number[]> = { 1: [10_001, 10_002, ...ids.slice(-1)], 10_001: [9_000] };
      const { stores, of } = recorder({
        'files.ids': (_run: unknown, { parentFileIds }: { parentFileIds: readonly number[] }) =>
          parentFileIds.flatMap((id) => children[id] ?? []),
        'files.byIds': [],
        'quarantine.listClaimed': [],
        ...Object.fromEntries(
          ['vectors', 'chunks', 'contents', 'originals', 'recognizedPages', 'siteBlocks'].map((store) => [
            `${store}.countOf`,
            0,
          ]),
        ),
      });
      const deps = { store: stores, settings: { quarantineMs } } as never;
      await removeMissing({ _id: 7, organizationId: 1, userId: 2 } as never, ids, deps, NEVER);
      const batches = of(write).map((args) => idsOf(args) as number[]);
      expect(batches.flat()).toEqual([9_000, 10_001, 10_002, ...ids]);
      expect(Math.max(...batches.map((batch) => batch.length))).toBeLessThanOrEqual(200);
    },
  ));

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
