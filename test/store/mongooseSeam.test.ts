import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const STORE = fileURLToPath(new URL('../../store', import.meta.url));

/**
 * Source files that declare the type of a read. Mongoose infers types from the model, except for computed projections,
 * dotted ones and those that exclude a field. For runs, it cannot infer that request and progress depend on the kind.
 */
const TYPED_BY_HAND = [
  'originals/originals.ts',
  'overview/held.ts',
  'overview/runs.ts',
  'reconcile/records.ts',
  'runs/history.ts',
  'runs/list.ts',
  'runs/outbox.ts',
  'runs/scheduledSyncs.ts',
];

const filesWith = (pattern: RegExp): string[] =>
  readdirSync(STORE, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && pattern.test(readFileSync(path.join(STORE, file), 'utf8')))
    .toSorted();

test('the types of reads are inferred from the model, except in the listed files', () => {
  expect(filesWith(/\.lean</)).toEqual(TYPED_BY_HAND);
});

test('only one module calls the MongoDB driver directly', () => {
  expect(filesWith(/\b(?!connection\b)\w+\s*\.collection\b/)).toEqual(['database/driver.ts']);
});
