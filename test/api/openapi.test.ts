import { describe, expect, test } from '@jest/globals';

import { EXTENSIONS } from '../../api/extensions.js';
import { operations } from '../../api/routes.js';
import { type Document, ours, theirs } from '../support/contract.js';

const names = (document: Document): string[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );

describe('the operations', () => {
  test('all 94 of the contract have a route', () => {
    expect(names(theirs)).toHaveLength(94);
    expect(names(theirs).filter((name) => !names(ours).includes(name))).toEqual([]);
  });
  test('what we add is listed with its reason', () => {
    expect(
      names(ours)
        .filter((name) => !names(theirs).includes(name))
        .sort(),
    ).toEqual(Object.keys(EXTENSIONS.operations).sort());
  });
  test('no operation stands twice', () => {
    const all = operations.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(all).size).toBe(all.length);
  });
});

test('a file record is described with all 39 keys, as in the contract', () => {
  const described = ours.paths['/resync_file']?.['post']?.responses['200']?.content['application/json']?.schema;
  expect(Object.keys(described?.properties ?? {}).sort()).toEqual(
    Object.keys(theirs.components.schemas?.['UserFile']?.properties ?? {}).sort(),
  );
  expect(described?.required).toHaveLength(39);
});

test('failures are described beside success', () => {
  const responses = Object.keys(ours.paths['/scrape_sitemap']?.['post']?.responses ?? {});
  expect(responses).toEqual(expect.arrayContaining(['200', '401', '403', '404', '409', '413', '422', '429']));
});
