import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

import { operations } from '../../../api/routes.js';
import { SETTINGS } from '../../../config/settings.js';
import { EVENT_KINDS } from '../../../contract/events.js';
import { EMBEDDING_STORAGE_STATUSES, FILE_SYNC_STATUSES } from '../../../contract/files/statuses.js';
import { SOURCE_TYPES } from '../../../contract/sources/sources.js';
import { EMBEDDING_MODEL_IDS } from '../../../contract/vectors/embeddingModels.js';
import { RERANK_MODELS } from '../../../contract/vectors/rerankers.js';
import { CONTENTS } from '../../../scripts/guide/contents.js';
import { filled, TABLES } from '../../../scripts/tables/fill.js';
import { everyRow } from '../../support/everyRow.js';

const read = (page: string): string => readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
const PAGES = CONTENTS.flatMap(({ pages }) => pages).filter((page) => page.startsWith('guide/'));

test('the tables of the guide match the code', async () => {
  await everyRow(
    [...TABLES],
    ([page]) => page,
    ([page, table]) => {
      const text = read(page);
      expect(filled(page, text, table())).toBe(text);
    },
  );
});

test('every page with a generated table is in the guide', () => {
  expect([...TABLES.keys()].filter((page) => !PAGES.includes(page))).toEqual([]);
});

interface Call {
  readonly page: string;
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/** Returns the calls that a page shows: `post PATH 'JSON'` and `api 'PATH?QUERY'` in its commands. */
function callsOf(page: string): Call[] {
  const commands = [...read(page).matchAll(/```bash[^\n]*\n([\s\S]*?)```/g)].map(([, text = '']) => text).join('\n');
  return [...commands.matchAll(/\b(api|post) ('[^']*'|"[^"]*"|\S+)(?: ('[^']*'|"(?:\\"|[^"])*"))?(?: (-F))?/g)].map(
    ([, name, address = '', body, form]) => {
      const [path = '', query = ''] = address.replaceAll(/^['"]|['"]$/g, '').split('?', 2);
      const text = body === undefined ? null : body.slice(1, -1).replaceAll('\\"', '"');
      return {
        page,
        method: name === 'post' || form ? 'post' : 'get',
        path: `/${path}`,
        query: Object.fromEntries(new URLSearchParams(query)),
        body: name === 'post' ? text : null,
      };
    },
  );
}

const isOf = (template: string, path: string): boolean =>
  new RegExp(`^${template.replaceAll(/\{[^}]+\}/g, '[^/]+')}$`).test(path);
/** Replaces the shell variables of a body with a number. */
const withoutVariables = (text: string): string => text.replaceAll(/\$[A-Z]+/g, '17');

test('every call in the guide is an operation of the API, with fields and values that the operation accepts', async () => {
  const calls = PAGES.flatMap(callsOf).filter(({ path, body }) => path !== '/$1' && !body?.startsWith('$('));
  expect(calls.length).toBeGreaterThan(80);
  await everyRow(
    calls,
    ({ page, path, body }) => `${page}: ${path} ${body ?? ''}`,
    ({ method, path, query, body }) => {
      const candidates = operations.filter((operation) => operation.method === method && isOf(operation.path, path));
      // Paths without parameters come first, as in the application.
      const operation = candidates.find((one) => one.path === path) ?? candidates[0];
      expect(operation).toBeDefined();
      const strict = { context: { mayCall: () => true, redirectUriSchemes: [] } };
      if (Object.keys(query).length > 0)
        expect(operation?.query?.validate(query, strict).error?.message).toBeUndefined();
      if (body !== null) {
        const value: unknown = JSON.parse(withoutVariables(body));
        expect(operation?.body?.validate(value, strict).error?.message).toBeUndefined();
      }
    },
  );
});

test('every name in capitals in the guide is a setting or a value of the API', async () => {
  const knownNames = new Set<string>([
    ...[...Object.keys(SETTINGS), ...SOURCE_TYPES, ...Object.keys(EVENT_KINDS), ...EMBEDDING_MODEL_IDS],
    ...[...FILE_SYNC_STATUSES, ...EMBEDDING_STORAGE_STATUSES, ...RERANK_MODELS],
    // Placeholders in commands.
    ...['CLIENT_ID', 'CLIENT_SECRET'],
  ]);
  await everyRow(
    PAGES,
    (page) => page,
    (page) => {
      const names = [...read(page).matchAll(/(?<![\w$])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?!\w)/g)].map(([name]) => name);
      expect(names.filter((name) => !knownNames.has(name) && !name.startsWith('SOURCE_URLS'))).toEqual([]);
    },
  );
});
