import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

import { operations } from '../../api/routes.js';
import { CONNECTED_SOURCES } from '../../contract/sources/connectedSources.js';
import { sourcesPage } from '../../scripts/sourcesPage.js';

const DOCS = new URL('../../docs/', import.meta.url);
const readDoc = (name: string): string => readFileSync(new URL(name, DOCS), 'utf8');

test('docs/sources.md is what `npm run docs:sources` writes', () => {
  expect(readDoc('sources.md')).toBe(sourcesPage());
});

test('docs/sources.md has a row for each source, with existing operations and files', () => {
  const page = sourcesPage();
  const rows = page.split('\n').filter((line) => line.includes('emulator, catalogue, kills'));
  expect(rows).toHaveLength(Object.keys(CONNECTED_SOURCES).length);
  for (const row of rows) expect(row.match(/ \| /g)).toHaveLength(7);
  const paths = new Set(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`));
  for (const [, operation = ''] of page.matchAll(/`(POST [^`]+)`/g)) expect([...paths]).toContain(operation);
  for (const [, file = ''] of page.matchAll(/\]\((?!https:)([^)]+)\)/g))
    expect(existsSync(new URL(file, DOCS))).toBe(true);
});

test('each source has a connector suite, test/connectors/<source>.test.ts', () => {
  const rows = sourcesPage()
    .split('\n')
    .filter((line) => line.includes('emulator, catalogue, kills'));
  expect(rows.filter((row) => !row.includes('[its connector]'))).toEqual([]);
});

test.each(['../README.md', 'api/sources.md'])('docs/%s names each source', (file) => {
  const text = readDoc(file).replace(/\s+/g, ' ');
  const missing = Object.values(CONNECTED_SOURCES).filter(({ name }) => !text.includes(name));
  expect(missing.map(({ name }) => name)).toEqual([]);
});
