/** Third-party documentation from Debian packages. */
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { glob } from 'tinyglobby';

import { DEFAULT_ENGINES_DIR } from '../../engines/venv.js';
import type { PageShape } from './sections.js';

export interface Documentation {
  readonly name: string;
  readonly debian: string;
  /** Folder of its pages in the package, and patterns of the pages to read. */
  readonly folder: string;
  readonly pages: readonly string[];
  readonly shape: PageShape;
  /** Without the option `--all`, the benchmark reads only every `step`-th page. */
  readonly step: number;
}

/** Two independent documentations: a coincidental result with one of them is not repeated with the other. */
export const DOCUMENTATION: readonly Documentation[] = [
  {
    name: 'SQLite',
    debian: 'sqlite3-doc',
    folder: 'usr/share/doc/sqlite3',
    // Without change logs, lists of links, and duplicates of c3ref/.
    pages: [
      '*.html',
      'c3ref/*.html',
      'session/*.html',
      ...excluded('capi3ref changes news oldnews chronology cves doc_* keyword_index sitemap toc doclist docs index'),
    ],
    shape: { main: 'body', skipped: ['menu', 'searchmenu', 'tagline', 'fancy_toc', 'nounderline'] },
    step: 2,
  },
  {
    name: 'Python',
    debian: 'python3.11-doc',
    folder: 'usr/share/doc/python3.11/html',
    pages: [
      'tutorial/*.html',
      'howto/*.html',
      'faq/*.html',
      'reference/*.html',
      'extending/*.html',
      'using/*.html',
      'distributing/*.html',
      'installing/*.html',
    ],
    shape: { main: 'div[role=main]', skipped: ['headerlink', 'toctree-wrapper', 'contents'] },
    step: 2,
  },
];

function excluded(names: string): string[] {
  return names.split(' ').map((name) => `!${name}.html`);
}

const run = promisify(execFile);

export interface Page {
  /** Path inside the documentation. */
  readonly name: string;
  readonly html: string;
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}

/** Downloads and unpacks a package (once), without installing it. @throws Error if apt has no such package */
async function ensurePackage(name: string): Promise<{ folder: string; version: string }> {
  const cache = path.join(DEFAULT_ENGINES_DIR, 'documentation');
  const folder = path.join(cache, name);
  if (!(await exists(folder))) {
    await mkdir(cache, { recursive: true });
    const draft = await mkdtemp(path.join(cache, 'draft-'));
    try {
      await run('apt-get', ['download', name], { cwd: draft });
      const [deb = ''] = (await readdir(draft)).filter((file) => file.endsWith('.deb'));
      await run('dpkg', ['-x', deb, 'files'], { cwd: draft });
      await rename(draft, folder);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  }
  const [deb = ''] = (await readdir(folder)).filter((file) => file.endsWith('.deb'));
  return { folder: path.join(folder, 'files'), version: decodeURIComponent(deb.split('_')[1] ?? '') };
}

/** Returns the pages of a documentation and the version of their package. */
export async function readPages({ debian, folder, pages }: Documentation): Promise<{ version: string; pages: Page[] }> {
  const unpacked = await ensurePackage(debian);
  const cwd = path.join(unpacked.folder, folder);
  const names = (await glob([...pages], { cwd })).toSorted();
  const read = names.map(async (name) => ({ name, html: await readFile(path.join(cwd, name), 'utf8') }));
  return { version: unpacked.version, pages: await Promise.all(read) };
}
