/**
 * Builds the guide from docs/ with Eleventy: static pages whose links are all relative, and the index for its search.
 */
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Eleventy from '@11ty/eleventy';
import { build as bundle } from 'esbuild';
import { glob } from 'tinyglobby';

import { addressOf, CONTENTS } from './contents.js';
import { framed, headingsOf, textOf } from './layout.js';
import { extendMarkdown } from './markdown.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HERE = path.join(ROOT, 'scripts', 'guide');

export interface GuidePaths {
  /** Folder with the Markdown files. */
  readonly docs: string;
  readonly output: string;
}

/** Returns the titles of all pages. @throws Error if the table of contents and the folder differ */
async function titlesOf(docs: string): Promise<Map<string, string>> {
  const listed = CONTENTS.flatMap(({ pages }) => pages);
  const found = new Set(await glob(['**/*.md'], { cwd: docs }));
  const missing = listed.filter((page) => !found.has(page));
  const unlisted = [...found].filter((page) => !listed.includes(page));
  if (missing.length + unlisted.length > 0)
    throw new Error(
      `scripts/guide/contents.ts does not match docs/. Missing pages: ${missing.join(', ') || 'none'}. Unlisted pages: ${unlisted.join(', ') || 'none'}.`,
    );
  const titles = new Map<string, string>();
  for (const page of listed) {
    const [, title] = /^# (.+)$/m.exec(await readFile(path.join(docs, page), 'utf8')) ?? [];
    if (title === undefined) throw new Error(`docs/${page} has no heading.`);
    titles.set(page, title.replaceAll('`', ''));
  }
  return titles;
}

/** One section of a page, as the search shows it: address, title of the page, heading, text. */
type Section = readonly [address: string, page: string, heading: string, text: string];

function sectionsOf(page: string, title: string, content: string): Section[] {
  const address = addressOf(page);
  const starts = [...content.matchAll(/<h[1-4] id=/g)].map(({ index }) => index);
  return headingsOf(content).map(({ level, id, html }, index) => {
    const text = textOf(content.slice(starts[index], starts[index + 1]).replace(/<h[1-4][\s\S]*?<\/h[1-4]>/, ''));
    return [level === 1 ? address : `${address}#${id}`, title, level === 1 ? '' : textOf(html), text];
  });
}

/** Builds the guide. The output folder need not exist. @throws Error for a page or picture that cannot be rendered */
export async function buildGuide({ docs, output }: GuidePaths): Promise<void> {
  const titles = await titlesOf(docs);
  const sections: Section[] = [];
  const eleventy = new Eleventy(docs, output, {
    quietMode: true,
    config(configuration) {
      configuration.setUseGitIgnore(false);
      configuration.setTemplateFormats(['md']);
      configuration.amendLibrary('md', (markdown) => {
        extendMarkdown(markdown, { docs, titles });
      });
      // Braces in the pages are text, not templates.
      return { markdownTemplateEngine: false };
    },
  });
  for (const { inputPath, content } of await eleventy.toJSON()) {
    const page = path.relative(docs, path.resolve(inputPath)).split(path.sep).join('/');
    const file = path.join(output, addressOf(page));
    sections.push(...sectionsOf(page, titles.get(page) ?? page, content));
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, framed({ page, titles, content }));
  }
  await assets(docs, output);
  const order = new Map(CONTENTS.flatMap(({ pages }) => pages).map((page, index) => [addressOf(page), index]));
  const place = ([address]: Section): number => order.get(address.split('#', 1)[0] ?? '') ?? 0;
  await writeFile(path.join(output, 'search.json'), JSON.stringify(sections.toSorted((a, b) => place(a) - place(b))));
}

/** Writes scripts, styles and pictures. */
async function assets(docs: string, output: string): Promise<void> {
  await bundle({
    absWorkingDir: ROOT,
    entryPoints: ['guide.mjs', 'theme.mjs'].map((name) => path.join(HERE, 'browser', name)),
    outdir: path.join(output, 'assets'),
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
  });
  for (const name of ['guide.css', 'icon.svg'])
    await copyFile(path.join(HERE, 'browser', name), path.join(output, 'assets', name));
  for (const picture of await glob(['images/**/*.{png,jpg}'], { cwd: docs })) {
    const file = path.join(output, picture);
    await mkdir(path.dirname(file), { recursive: true });
    await copyFile(path.join(docs, picture), file);
  }
}
