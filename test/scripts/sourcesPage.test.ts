import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

import { operations } from '../../api/routes.js';
import { CONNECTED_SOURCES } from '../../contract/sources/connectedSources.js';
import { sourcesPage } from '../../scripts/sourcesPage.js';

const DOCS = new URL('../../docs/', import.meta.url);
const readDoc = (name: string): string => readFileSync(new URL(name, DOCS), 'utf8');

test('docs/sources.md matches the table of sources and the connectors', () => {
  expect(readDoc('sources.md')).toBe(sourcesPage());
});

test('docs/sources.md has a row for each source, with existing operations and files', () => {
  const page = sourcesPage();
  const rows = page.split('\n').filter((line) => line.includes('emulator, catalogue, kills'));
  expect(rows).toHaveLength(Object.keys(CONNECTED_SOURCES).length);
  for (const row of rows) expect(row.match(/ \| /g)).toHaveLength(7);
  const paths = new Set(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`));
  for (const [, operation = ''] of page.matchAll(/`(POST [^`]+)`/g)) expect([...paths]).toContain(operation);
  for (const [, file = ''] of page.matchAll(/\]\(([^)]+)\)/g)) expect(existsSync(new URL(file, DOCS))).toBe(true);
});

test('the README names each source', () => {
  const readme = readDoc('../README.md').replace(/\s+/g, ' ');
  for (const { name } of Object.values(CONNECTED_SOURCES)) expect(readme).toContain(name);
});
