import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

import { operations } from '../../api/routes.js';
import { CONNECTED_SOURCES } from '../../contract/sources/connectedSources.js';
import { readRecordings } from '../../cli/recording/folder.js';
import { realAccounts, recordedOf, sourcesPage } from '../../scripts/sourcesPage.js';
import { INDEPENDENT_SUITES, SPECIFIED } from '../contracts/evidence.js';
import { CONTRACTS } from '../contracts/tables/index.js';

const DOCS = new URL('../../docs/', import.meta.url);
const readDoc = (name: string): string => readFileSync(new URL(name, DOCS), 'utf8');

test('docs/sources.md matches the output of `npm run docs:sources`', () => {
  expect(readDoc('sources.md')).toBe(sourcesPage());
});

test('docs/sources.md has a row for each source, with existing operations and files', () => {
  const page = sourcesPage();
  const rows = page.split('\n').filter((line) => line.startsWith('|') && line.includes('emulator, catalogue, kills'));
  expect(rows).toHaveLength(Object.keys(CONNECTED_SOURCES).length);
  for (const row of rows) expect(row.match(/ \| /g)).toHaveLength(7);
  const paths = new Set(operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`));
  for (const [, operation = ''] of page.matchAll(/`(POST [^`]+)`/g)) expect([...paths]).toContain(operation);
  for (const [, file = ''] of page.matchAll(/\]\((?!https:)([^)]+)\)/g))
    expect(existsSync(new URL(file, DOCS))).toBe(true);
});

test('the table of evidence has a row for each source; SPECIFIED has each contract table; each suite names its sources', () => {
  const rows = sourcesPage().split('\n').slice(sourcesPage().split('\n').indexOf('## Evidence'));
  const names = rows.flatMap((row) => (row.split(' | ').length === 8 ? [row.slice(2).split(' | ')[0]] : []));
  expect(names).toEqual([
    'source',
    ...Object.values(CONNECTED_SOURCES)
      .map(({ name }) => name)
      .toSorted((a, b) => a.localeCompare(b, 'en')),
    'RSS feed',
    'Web pages',
  ]);
  expect(Object.keys(SPECIFIED).toSorted()).toEqual(CONTRACTS.map(({ name }) => name).toSorted());
  for (const { suite, aspects } of INDEPENDENT_SUITES) {
    const text = readFileSync(new URL(`../../${suite}`, import.meta.url), 'utf8');
    expect(Object.keys(aspects).filter((source) => !text.includes(`'${source}'`))).toEqual([]);
  }
});

test('each source has a connector suite, test/connectors/<source>.test.ts', () => {
  const rows = sourcesPage()
    .split('\n')
    .filter((line) => line.startsWith('|') && line.includes('emulator, catalogue, kills'));
  expect(rows.filter((row) => !row.includes('[its connector]'))).toEqual([]);
});

test.each(['../README.md', 'api/sources.md'])('docs/%s names each source', (file) => {
  const text = readDoc(file).replace(/\s+/g, ' ');
  const missing = Object.values(CONNECTED_SOURCES).filter(({ name }) => !text.includes(name));
  expect(missing.map(({ name }) => name)).toEqual([]);
});

test('the page names a recording, with its date, only if it is of a real account', () => {
  const [sample] = [...readRecordings('test/fixtures/recordings').values()];
  const emulated = { ...sample!, account: 'emulator' as const };
  expect(recordedOf('GITBOOK', [emulated])).toBeNull();
  expect(realAccounts([emulated])).toContain('No source was tested with a real account');
  const real = { ...sample!, account: 'real' as const, recordedOn: '2027-02-03' };
  const link = '[recorded on 2027-02-03](../test/fixtures/recordings/gitbook.json)';
  expect(recordedOf('GITBOOK', [emulated, real])).toBe(`${link} with a real account`);
  expect(recordedOf('GITBOOK', [{ ...real, hasChanges: false }])).toBe(`${link} with a real account, without changes`);
  expect(recordedOf('GITHUB', [real])).toBeNull();
  expect(realAccounts([real])).toBe(
    '**Recorded with a real account: GitBook.** No other source was tested with one. Each',
  );
});
