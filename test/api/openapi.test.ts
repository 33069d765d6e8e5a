import { describe, expect, test } from '@jest/globals';

import { EXTENSIONS } from '../../api/extensions.js';
import { operations } from '../../api/routes.js';
import { answerOf, type Document, ourDocument, publishedDocument } from '../support/contract.js';

const names = (document: Document): string[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );

describe('described operations', () => {
  test('include all 94 of the contract', () => {
    expect(names(publishedDocument)).toHaveLength(94);
    expect(names(publishedDocument).filter((name) => !names(ourDocument).includes(name))).toEqual([]);
  });
  test('that the contract does not have are listed in api/extensions.ts with their reason', () => {
    const added = names(ourDocument).filter((name) => !names(publishedDocument).includes(name));
    const listed = Object.keys(EXTENSIONS.operations);
    expect({
      'needs a row in EXTENSIONS.operations': added.filter((name) => !listed.includes(name)),
      'has a row, and no operation': listed.filter((name) => !added.includes(name)),
    }).toEqual({ 'needs a row in EXTENSIONS.operations': [], 'has a row, and no operation': [] });
  });
  test('contain no duplicates', () => {
    const all = operations.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(all).size).toBe(all.length);
  });
});

test('an upload has exactly the options of the contract and our extensions in the query, and a file in a form', () => {
  const described = ourDocument.paths['/uploadfile']?.['post'];
  const contract = publishedDocument.paths['/uploadfile']?.['post'];
  const optionsOf = (operation: typeof described) =>
    (operation?.parameters ?? [])
      .filter((one) => one.in === 'query')
      .map(({ name, schema }): [string, unknown] => [name, schema.default ?? null])
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
  expect(optionsOf(contract)).toHaveLength(19);
  // The service has defaults for options that have none in the contract: see docs/api/files.md.
  const filled = new Map<unknown, unknown>([
    ['chunk_size', 1500],
    ['chunk_overlap', 20],
  ]);
  const ownOptions = (name: string): boolean => `uploadfile.${name}` in EXTENSIONS.requestFields;
  expect(optionsOf(described).filter(([name]) => !ownOptions(name))).toEqual(
    optionsOf(contract).map(([name, fallback]) => [name, fallback ?? filled.get(name) ?? null]),
  );
  expect(Object.keys(described?.requestBody?.content ?? {})).toEqual(Object.keys(contract?.requestBody?.content ?? {}));
});

test('a file record is described with all 39 keys of the contract and with our extensions', () => {
  const described = answerOf(ourDocument, 'post', '/resync_file');
  expect(Object.keys(described?.properties ?? {}).sort()).toEqual(
    [
      ...Object.keys(publishedDocument.components.schemas?.['UserFile']?.properties ?? {}),
      ...Object.keys(EXTENSIONS.records),
    ].sort(),
  );
  expect(described?.required).toHaveLength(41);
});

test('no parameter is named after a version, and only paths under /auth/v1 have a segment such as v1', () => {
  for (const [path, methods] of Object.entries(ourDocument.paths)) {
    if (/\bv\d/.test(path)) expect(path).toMatch(/^\/auth\/v1\//);
    for (const { parameters = [] } of Object.values(methods))
      expect(parameters.filter(({ name }) => /version/i.test(name))).toEqual([]);
  }
});

test('documents failures as well as success; 403 where an API key is required or a read-only token is refused', () => {
  const responsesOf = (path: string) => Object.keys(ourDocument.paths[path]?.['post']?.responses ?? {});
  const forbiddenOf = (path: string) => ourDocument.paths[path]?.['post']?.responses['403'];
  const always = ['200', '401', '404', '409', '413', '422', '429', '431', '503', '507'];
  expect(responsesOf('/scrape_sitemap')).toEqual(expect.arrayContaining(always));
  expect(responsesOf('/delete_users')).toEqual(expect.arrayContaining([...always, '403']));
  // While a request is in progress, another one with its Idempotency-Key gets 409: send it again after Retry-After.
  const conflict = ourDocument.paths['/scrape_sitemap']?.['post']?.responses['409'];
  expect(conflict).toHaveProperty('headers.Retry-After');
  // POST /user_files_v2 only lists files, so it accepts a token with the scope `read` and documents no 403.
  expect(responsesOf('/user_files_v2')).not.toContain('403');
  expect(forbiddenOf('/scrape_sitemap')).toMatchObject({ description: expect.stringContaining('scope=read') });
  expect(forbiddenOf('/delete_users')).toMatchObject({ description: expect.stringContaining('needs an API key') });
});

/**
 * Operations whose schema accepts an empty body, but which answer 400 to it, because they need one of several fields.
 */
const NEEDED: readonly string[] = ['/delete_files', '/delete_files_v2', '/quarantined_files/restore'];

test('a body is described as optional exactly where it may be absent', () => {
  const rules = { mayCall: () => true, redirectUriSchemes: [] };
  const wrong = operations.flatMap(({ method, path, body }) => {
    if (!body || !ourDocument.paths[path]?.[method]) return [];
    const accepts = !body.validate({}, { context: rules, stripUnknown: true }).error && !NEEDED.includes(path);
    const { requestBody } = ourDocument.paths[path][method] as { requestBody?: { required?: boolean } };
    return requestBody?.required === !accepts ? [] : [`${method} ${path}`];
  });
  expect(wrong).toEqual([]);
});
