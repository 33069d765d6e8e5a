/** The sources of the guide, and their hash, which shows whether the built site is current. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { glob } from 'tinyglobby';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Folder with the Markdown files and pictures. */
export const DOCS = path.join(ROOT, 'docs');
/** File of the built site with the hash of its sources. */
const STAMP = 'sources.hash';
/** Packages that affect the output. */
const PACKAGES = ['@11ty/eleventy', 'minisearch', 'prismjs'];

/** Returns a hash of the pages, the pictures, the generator and the versions of the packages in PACKAGES. */
export async function hashOfSources(docs = DOCS): Promise<string> {
  const hash = createHash('sha256');
  const files = [
    ...(await glob(['**/*.md', 'images/**'], { cwd: docs, absolute: true })),
    ...(await glob(['scripts/guide/**', 'scripts/markdown.ts'], { cwd: ROOT, absolute: true })),
  ];
  for (const file of files.toSorted()) hash.update(`${path.relative(docs, file)}\n`).update(await readFile(file));
  const { devDependencies } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>;
  };
  for (const name of PACKAGES) hash.update(`${name}@${devDependencies[name]}\n`);
  return hash.digest('hex');
}

/** Returns the place of the hash in a built site. */
export const stampOf = (output: string): string => path.join(output, STAMP);

/** Returns whether a built site exists and is up to date with its sources. */
export async function isCurrent(output: string, docs = DOCS): Promise<boolean> {
  const built = await readFile(stampOf(output), 'utf8').catch(() => null);
  return built !== null && built === (await hashOfSources(docs));
}
