import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { glob } from 'tinyglobby';

import { isCurrent } from '../../../scripts/guide/sources.js';
import { everyRow } from '../../support/everyRow.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/** A copy of docs/ that tests may change, and the site that is built from it. */
let folder = '';
const docs = (name = ''): string => path.join(folder, 'docs', name);
const site = (name = ''): string => path.join(folder, 'site', name);
/** Builds the site like `npm run docs:guide`, in a child process: Jest's module registry cannot load the generator. */
const build = () => run('node', ['--import', 'tsx', 'scripts/buildGuide.ts', site(), docs()], { cwd: ROOT });

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-guide-'));
  await cp(path.join(ROOT, 'docs'), docs(), { recursive: true });
  await build();
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const pagesOf = async (): Promise<string[]> => (await glob('**/*.html', { cwd: site() })).toSorted();
const valuesOf = (html: string, pattern: RegExp): string[] =>
  [...html.matchAll(pattern)].map(([, value = '']) => value);

test('every link, picture and script of the built pages leads to a file of the site, and every anchor to a heading', async () => {
  const pages = await pagesOf();
  expect(pages.length).toBeGreaterThan(90);
  const files = new Set(await glob('**/*', { cwd: site() }));
  const anchors = new Map(
    await Promise.all(
      pages.map(async (page) => [page, valuesOf(await readFile(site(page), 'utf8'), / id="([^"]+)"/g)] as const),
    ),
  );
  await everyRow(
    pages,
    (page) => page,
    async (page) => {
      const html = await readFile(site(page), 'utf8');
      const links = valuesOf(html, / (?:href|src)="([^"]*)"/g).filter((link) => !/^https?:\/\//.test(link));
      expect(links.filter((link) => link.startsWith('/'))).toEqual([]);
      const broken = links.filter((link) => {
        const [target = '', anchor] = link.split('#', 2);
        // Links to the API reference are not checked: it is not part of the site; the API serves it at /docs.
        const file = target === '' ? page : path.posix.join(path.posix.dirname(page), target);
        if (file === '../docs/') return false;
        return !files.has(file) || (anchor !== undefined && !anchors.get(file)?.includes(anchor));
      });
      expect(broken).toEqual([]);
    },
  );
});

test('a link that is written with the file name of a page shows the title of that page', async () => {
  const html = await readFile(site('api/webhooks.html'), 'utf8');
  expect(html).toMatch(/<a href="[^"]*events\.html">Events and webhooks<\/a>/);
  await everyRow(
    await pagesOf(),
    (page) => page,
    async (page) => {
      expect(valuesOf(await readFile(site(page), 'utf8'), /<a [^>]*>([^<]*\.md)<\/a>/g)).toEqual([]);
    },
  );
});

test('no page loads anything from another host, or contains an inline script or style', async () => {
  await everyRow(
    await pagesOf(),
    (page) => page,
    async (page) => {
      const html = await readFile(site(page), 'utf8');
      expect(html).not.toMatch(/<(?:script|img|link|iframe|source)\b[^>]*\s(?:src|href)="(?:https?:)?\/\//);
      expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle="|\son[a-z]+="/);
    },
  );
  const css = await readFile(site('assets/guide.css'), 'utf8');
  expect(css).not.toMatch(/url\(|@import/);
  expect(await readFile(site('assets/guide.js'), 'utf8')).not.toMatch(/https?:\/\/(?!www\.w3\.org)/);
});

test('the index of the search has every page with its text', async () => {
  const sections = JSON.parse(await readFile(site('search.json'), 'utf8')) as string[][];
  const addresses = new Set(sections.map(([address = '']) => address.split('#', 1)[0]));
  expect(addresses).toEqual(new Set(await pagesOf()));
  const [, page, heading, text] = sections.find(([address]) => address === 'events/webhooks.html#verify') ?? [];
  expect([page, heading]).toEqual(['Webhooks', 'Verify']);
  expect(text).toContain('timingSafeEqual(signature, expected)');
});

test('a changed page makes the site outdated, and the next build includes the change', async () => {
  expect(await isCurrent(site(), docs())).toBe(true);
  const page = docs('guide/quickstart.md');
  await writeFile(page, `${await readFile(page, 'utf8')}\nThe lighthouse was lit in 1901.\n`);
  expect(await isCurrent(site(), docs())).toBe(false);
  await build();
  expect(await isCurrent(site(), docs())).toBe(true);
  expect(await readFile(site('quickstart.html'), 'utf8')).toContain('The lighthouse was lit in 1901.');
});

test('a page that the table of contents does not name fails the build, and the site does not change', async () => {
  const pageBefore = await readFile(site('index.html'), 'utf8');
  await writeFile(docs('guide/unlisted.md'), '# Unlisted\n');
  await expect(build()).rejects.toThrow(/Unlisted pages: guide\/unlisted\.md/);
  expect(await readFile(site('index.html'), 'utf8')).toBe(pageBefore);
  await rm(docs('guide/unlisted.md'));
});
