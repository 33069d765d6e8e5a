/**
 * Measures which blocks are removed because a site repeats them. Each given folder is a site of HTML files, such as the
 * documentation in a Debian package. The blocks are learned from its first pages in order of their paths, as a scrape
 * learns them from its first pages.
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { learnBlocks } from '../activities/ingest/site/learnBlocks.js';
import { htmlParser } from '../documents/parsers/html.js';
import type { ParsedDocument, RepeatedBlocks, SiteEvidence } from '../documents/types.js';
import { LIMITS } from '../test/documents/page.js';

/** Number of removed texts that are shown. */
const SHOWN = 10;
/** Maximum number of pages that are read of a folder; from a larger folder, evenly spread ones. */
const MAX_PAGES = 400;
const HOST = 'docs.example';
const flags = process.argv.slice(2).filter((one) => one.startsWith('--'));
const folders = process.argv.slice(2).filter((one) => !one.startsWith('--'));
/** Number of pages of a site that are compared with each other, to learn its blocks. */
const SAMPLE = Number(flags.find((flag) => flag.startsWith('--sample='))?.slice(9) ?? 12);

function read(bytes: Uint8Array, name: string, site: Partial<SiteEvidence>): ParsedDocument | null {
  const html = { tags: [], classes: [], selectors: [] };
  const evidence = { host: HOST, repeated: [], listBlocks: false, ...site };
  const input = { bytes, contentType: 'text/html', name, baseUrl: `https://${HOST}/${name}`, html, site: evidence };
  try {
    return htmlParser.parse(input, LIMITS);
  } catch {
    return null;
  }
}

/** Returns the lines of a text that another one lacks. */
function missingLines(text: string, other: string): string[] {
  const otherLines = new Set(other.split('\n'));
  return text.split('\n').filter((line) => line.trim() !== '' && !otherLines.has(line));
}

async function measure(folder: string): Promise<void> {
  const all = await readdir(folder, { recursive: true });
  const found = all.filter((name) => /\.html?(?:\.en)?$/.test(name)).toSorted();
  const step = Math.max(1, found.length / MAX_PAGES);
  const names = found.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
  const pages = await Promise.all(names.map(async (name) => readFile(path.join(folder, name))));
  const compared = names.slice(0, SAMPLE).map((name, i) => {
    const page = read(pages[i] ?? Buffer.alloc(0), name, { listBlocks: true });
    return { fileId: i, host: HOST, blocks: page?.blocks ?? [] };
  });
  const learned = learnBlocks(compared);
  const sum = { pages: 0, changed: 0, before: 0, after: 0, blocks: 0 };
  const lines = new Map<string, number>();
  names.forEach((name, i) => {
    const bytes = pages[i] ?? Buffer.alloc(0);
    const repeated = learned.filter(({ keptBy }) => keptBy !== i).map(({ id }) => id);
    const before = read(bytes, name, {});
    const after = read(bytes, name, { repeated });
    if (!before || !after) return;
    const removed = after.metadata['repeated_blocks_removed'] as RepeatedBlocks | undefined;
    sum.pages += 1;
    sum.changed += removed ? 1 : 0;
    sum.blocks += removed?.blocks ?? 0;
    sum.before += before.text.length;
    sum.after += after.text.length;
    for (const line of missingLines(before.text, after.text)) lines.set(line, (lines.get(line) ?? 0) + 1);
  });
  console.log(`${folder}: ${JSON.stringify({ ...sum, learned: learned.length })}`);
  const shown = [...lines].toSorted((a, b) => b[1] - a[1]).slice(0, SHOWN);
  for (const [line, count] of shown) console.log(`  ${count} × ${line.slice(0, 150)}`);
}

for (const folder of folders) await measure(folder);
