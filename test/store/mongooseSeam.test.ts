import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const STORE = fileURLToPath(new URL('../../store', import.meta.url));

/**
 * Files whose reads state their type. Mongoose infers it from the model, unless the projection is computed, dotted or
 * excludes a field. For a run, it does not infer that request and progress depend on the kind.
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

test('reads get their type from the model, except the listed ones', () => {
  expect(filesWith(/\.lean</)).toEqual(TYPED_BY_HAND);
});

test('only one module calls the driver without mongoose', () => {
  expect(filesWith(/\b(?!connection\b)\w+\s*\.collection\b/)).toEqual(['database/driver.ts']);
});
