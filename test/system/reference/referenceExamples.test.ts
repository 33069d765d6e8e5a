import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';

import { openApiDocument } from '../../../api/openapi/document.js';
import type { Example, Examples } from '../../../api/openapi/examples.js';
import { chooseExample } from '../../../scripts/reference/chooseExample.js';
import {
  createExampleCheck,
  type DocumentedCall,
  documentedCallsOf,
} from '../../../scripts/reference/exampleFaults.js';
import { redact } from '../../../scripts/reference/redact.js';
import { everyRow } from '../../support/everyRow.js';

const document = openApiDocument();
const faultsOf = createExampleCheck(document);
const documentedCalls = documentedCallsOf(document);
const documentedCallOf = (path: string): DocumentedCall => documentedCalls.find((place) => place.path === path)!;

const FOLDER = new URL('../../../api/openapi/examples/', import.meta.url);
const rows = readdirSync(FOLDER).flatMap((file) =>
  Object.entries(JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Examples).map(([id, example]) => ({
    ...{ file, id, example },
  })),
);

describe('the examples of the reference', () => {
  test('follow the schemas of their operation', () =>
    everyRow(
      rows,
      ({ file, id }) => `${file} ${id}`,
      ({ id, example }) => {
        const place = documentedCalls.find(({ described }) => described.operationId === id);
        expect(place).toBeDefined();
        expect(faultsOf(place!, example)).toEqual([]);
      },
    ));

  test('have no addresses of this machine and no secrets', () =>
    everyRow(
      rows,
      ({ file, id }) => `${file} ${id}`,
      ({ example }) => {
        const text = JSON.stringify(example);
        expect(text).not.toMatch(/127\.0\.0\.1|localhost|\/tmp\/|\[::1\]/);
        expect(text).not.toMatch(/"(?:access_token|refresh_token|signing_key|client_secret)":"[^<"]/);
      },
    ));

  test('are reported if they violate their schema', () => {
    const place = documentedCallOf('/embeddings');
    expect(faultsOf(place, { request: { query: 'x', k: 0 }, response: { documents: [] } })).toEqual([
      'request/k must be >= 1',
    ]);
    expect(faultsOf(place, { request: { query: 'x', k: 1 }, response: {} })).toHaveLength(1);
    expect(
      faultsOf(documentedCallOf('/process_sitemap'), { parameters: { url: 5 }, response: { urls: [] } }),
    ).toHaveLength(1);
  });
});

describe('a recorded call', () => {
  const baseUrl = 'http://127.0.0.1:4000';
  const call = (body: unknown, response: unknown) => ({
    ...{ method: 'POST', path: '/embeddings', body, response, baseUrl },
  });
  const found = { content: 'A text.', file_id: 1, vector: null };
  const chosen = (...calls: ReturnType<typeof call>[]): Example | null =>
    chooseExample(documentedCallOf('/embeddings'), calls, faultsOf);

  test('is preferred as an example if it has content, then by a length close to 600 characters', () => {
    const empty = call({ query: 'a', k: 1 }, { documents: [] });
    const short = call({ query: 'short', k: 1 }, { documents: [found] });
    const good = call({ query: 'good', k: 1 }, { documents: [{ ...found, content: 'word '.repeat(70) }] });
    const long = call({ query: 'long', k: 1 }, { documents: Array(2).fill({ ...found, content: 'x'.repeat(390) }) });
    expect(chosen(empty, short, good, long)?.request).toEqual({ query: 'good', k: 1 });
    expect(chosen(empty)?.response).toEqual({ documents: [] });
  });

  test('is not chosen as an example if it violates its schema or belongs to another operation', () => {
    expect(chosen(call({ query: 'a' }, { documents: [found] }))).toBeNull();
    expect(chosen({ ...call({ query: 'a', k: 1 }, { documents: [] }), path: '/other' })).toBeNull();
  });

  test('parses the parameters in path and query into their types', () => {
    const path = '/sync_runs/{sync_run_id}/items';
    const example = chooseExample(
      documentedCallOf(path),
      [{ method: 'GET', path: '/sync_runs/7/items?limit=2', response: { results: [], next_cursor: null }, baseUrl }],
      faultsOf,
    );
    expect(example?.parameters).toEqual({ sync_run_id: 7, limit: 2 });
  });

  test('has placeholders for local addresses, logins, request ids, times, signatures and secrets; long values are shortened', () => {
    const recorded = {
      presigned_url: `${baseUrl}/content/1/2/3.raw?key=k1&expires=9&signature=abc`,
      url: 'http://localhost:8123/sitemap.xml',
      feed: 'http://ada:secret@127.0.0.1:9/feed',
      oauth_url: 'https://id.example.org/?redirect_uri=http%3A%2F%2F127.0.0.1%3A35305%2Fback',
      created_at: '2031-05-06T07:08:09.123Z',
      request_id: '0f8fad5b-d9cb-469f-a165-70867728950e',
      signing_key: 'ab12',
      vector: [1, 2, 3, 4, 5, 6],
      list: ['a', 'b', 'c'],
      text: 'x'.repeat(500),
    };
    expect(redact(recorded, baseUrl)).toEqual({
      presigned_url: 'https://api.example.com/content/1/2/3.raw?key=…&expires=9&signature=…',
      url: 'https://www.example.com/sitemap.xml',
      feed: 'https://www.example.com/feed',
      oauth_url: 'https://id.example.org/?redirect_uri=https%3A%2F%2Fapi.example.com%2Fback',
      created_at: '2026-01-15T09:30:00.000Z',
      request_id: '7d9f2c1e-4b3a-4e8f-9c6d-2a1b0c3d4e5f',
      signing_key: '<signing_key>',
      vector: [1, 2, 3, 4],
      list: ['a', 'b'],
      text: `${'x'.repeat(400)}…`,
    });
  });
});
