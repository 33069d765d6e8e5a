import { expect, test } from '@jest/globals';

import type { SentRequest } from '../../connectors/sentRequests.js';
import { CONNECTED_SOURCES } from '../../contract/sources/connectedSources.js';
import { everyRow } from '../support/everyRow.js';
import { type Contract, differences, locate, operationOf } from './contract.js';
import { CONTRACTS } from './tables/index.js';

const CONTRACT: Contract = {
  ...{ name: 'harbour', source: 'Harbour', specification: 'https://a.example', version: '1', takenOn: '2026-11-26' },
  address: 'api',
  common: { key: { type: 'string' } },
  operations: {
    'GET /ships': { query: { limit: { type: 'integer', min: 1, max: 100 }, order: { enum: ['asc', 'desc'] } } },
    'GET /ships/{id}': {
      query: { deep: { type: 'boolean' } },
      headers: { version: { pattern: '^2\\.', required: true }, flags: { list: ['a', 'b'] } },
    },
    'GET /ships/{id}/papers/{path+}': {},
    'GET /ports/{host}:/{path+}': { query: { at: { check: (at) => (at === 'noon' ? null : 'is not noon') } } },
    'GET /ships/latest': { query: { at: { required: true } } },
    'POST /search': {
      body: {
        query: { type: 'object', required: true, fields: { flags: { type: 'array' }, deep: { type: 'boolean' } } },
        size: { type: 'integer', max: 10 },
      },
    },
  },
};
const URLS = { api: 'https://a.example/v1', other: 'https://a.example/v1/other' };
const differencesOf = (request: Partial<SentRequest> & { path: string }): string[] => {
  const { path, ...more } = request;
  const sent: SentRequest = {
    ...{ source: 'Harbour', urls: URLS, method: 'GET', url: `${URLS.api}${path}`, headers: {}, body: null },
    ...more,
  };
  return differences(CONTRACT, sent, locate(sent)!);
};
const post = (body: string, type = 'application/json') =>
  differencesOf({ path: '/search', method: 'POST', headers: { 'Content-Type': type }, body });

test('accepts requests that the specification allows', () => {
  expect(differencesOf({ path: '/ships?limit=100&order=asc&key=a' })).toEqual([]);
  expect(differencesOf({ path: '/ships/7?deep=true', headers: { Version: '2.1' } })).toEqual([]);
  expect(differencesOf({ path: '/ships/7/papers/a/b.md' })).toEqual([]);
  expect(differencesOf({ path: '/ships/7', headers: { version: '2.1', flags: 'b,a' } })).toEqual([]);
  expect(differencesOf({ path: '/ports/a.example:/west/pier?at=noon' })).toEqual([]);
  expect(post('{"query":{},"size":10}')).toEqual([]);
  expect(post('{"query":{"flags":["a"],"deep":true}}')).toEqual([]);
});

test.each([
  [{ path: '/boats' }, /no such operation/],
  [{ path: '/ships', method: 'DELETE' }, /no such operation/],
  [{ path: '/ships?colour=red' }, /query colour is not in the specification/],
  [{ path: '/ships?limit=101' }, /limit is 101, not within 1\.\.100/],
  [{ path: '/ships?limit=all' }, /limit is not a number/],
  [{ path: '/ships?order=up' }, /order is up, none of asc, desc/],
  [{ path: '/ships/7?deep=yes', headers: { version: '2.1' } }, /deep is not a boolean/],
  [{ path: '/ships/7' }, /header version is missing/],
  [{ path: '/ships/7', headers: { version: '1' } }, /header version does not match/],
  [{ path: '/ships/latest' }, /query at is missing/],
  [
    { path: '/ships/7', headers: { version: '2.1', flags: 'a,c' } },
    /header flags contains c, not in the specification/,
  ],
  [{ path: '/ports/a.example/west' }, /no such operation/],
  [{ path: '/ports/a.example:/west?at=dusk' }, /query at is not noon/],
])('reports the difference of %j', (request, difference) => {
  expect(differencesOf(request as Parameters<typeof differencesOf>[0]).join()).toMatch(difference);
});

test.each([
  ['{"size":10}', /field query is missing/],
  ['{"query":"all"}', /query is not an object/],
  ['{"query":{"flag":[]}}', /field query has a difference: field flag is not in the specification/],
  ['{"query":{"flags":"a","deep":1}}', /field flags is not a list; .*field deep is not a boolean/],
  ['{"query":{},"size":11}', /size is 11/],
  ['{"query":{},"size":"10"}', /size is not a number/],
  ['{"query":{},"page":1}', /field page is not in the specification/],
  ['{"query":', /the body is not readable/],
])('reports the difference of the body %s', (body, difference) => {
  expect(post(body).join()).toMatch(difference);
});

test('reads forms, and prefers literal segments to parameters', () => {
  expect(post('query=a&size=3', 'application/x-www-form-urlencoded').join()).toMatch(/query is not an object/);
  expect(operationOf(CONTRACT, 'GET', '/ships/latest')).toBe('GET /ships/latest');
});

test('locates a request below the longest address that its URL begins with, and ignores other hosts', () => {
  expect(locate({ url: 'https://a.example/v1/other/x?a=1', urls: URLS })).toMatchObject({
    address: 'other',
    path: '/x',
  });
  expect(locate({ url: 'https://a.example/v1x', urls: URLS })).toBeNull();
  expect(locate({ url: 'https://cdn.example/v1/ships', urls: URLS })).toBeNull();
});

test('every table names a source and one of its addresses, and states the origin and date of its rules', () =>
  everyRow(
    CONTRACTS,
    ({ name }) => name,
    ({ source, address, specification, takenOn, operations }) => {
      const row = Object.values(CONNECTED_SOURCES).find(({ name }) => name === source);
      expect(Object.keys(row?.urls ?? {})).toContain(address);
      expect(specification).toMatch(/^https:\/\//);
      expect(takenOn).toMatch(/^\d{4}-\d\d-\d\d$/);
      expect(Object.keys(operations).length).toBeGreaterThan(0);
      return Promise.resolve();
    },
  ));
