/**
 * `npm run bench:documents`: speed of reading documents by the parsers alone and through the whole service, and our
 * chunker compared with LangChain's. `-- --quick` makes files of a tenth of the size and takes fewer iterations.
 * `-- FOLDER` instead reads the files of a folder and scores them against their references; `-- --made` does so with
 * thirty generated PDFs.
 */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pLimit from 'p-limit';

import { loadConfig } from '../config/config.js';
import { createDocumentPool } from '../documents/pool.js';
import { makePdfs } from './documentScores/makePdfs.js';
import { scoreFolder } from './documentScores/scoreFolder.js';
import { compareChunkers } from './chunkers.js';
import { type BenchFiles, makeFiles } from './documentFiles.js';
import { allSettled, CHUNKING } from './measures.js';
import { ensureBaselines } from './baselines.js';
import { type Role, watchMemory } from './processes.js';
import { environment, megabytes, table } from './report.js';
import { startBenchService } from './service.js';
import { writeReport } from './writeReport.js';

const quick = process.argv.includes('--quick');
const SIZES = quick
  ? { pages: 100, csvBytes: 10_000_000, rows: 500, slides: 30, notes: 100 }
  : { pages: 1_000, csvBytes: 100_000_000, rows: 5_000, slides: 300, notes: 1_000 };
const ITERATIONS = quick ? 3 : 7;
/** The tokenizer that LangChain's splitters ship with. */
const SHIPPED = 'js-tiktoken';
const TARGET_RATIO = 3;
const SETTLE_MS = 15 * 60_000;
/** Number of concurrent uploads. */
const UPLOADS = 8;
const RESULTS = fileURLToPath(new URL('documents.md', import.meta.url));
const printLine = (line: string): void => console.log(`· ${line}`);

const given = process.argv.slice(2).find((argument) => !argument.startsWith('--'));
const usesMade = process.argv.includes('--made');
if (given !== undefined || usesMade) {
  const scratch = await mkdtemp(path.join(tmpdir(), 'allotrope-bench-scores-'));
  try {
    if (usesMade) await makePdfs(path.join(scratch, 'made'), 30);
    console.log(await scoreFolder(given ?? path.join(scratch, 'made'), scratch, printLine));
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  process.exit(0);
}

interface Measured {
  readonly seconds: number;
  readonly peakBytes: number;
}

async function measure(roles: readonly Role[], work: () => Promise<unknown>): Promise<Measured> {
  const startedAt = performance.now();
  const [, peak] = await watchMemory(roles, work);
  return { seconds: (performance.now() - startedAt) / 1000, peakBytes: peak.bytes };
}

/** Measures the parsers alone: content to text and chunks, as in a worker, with the default settings. */
async function read(files: BenchFiles, folder: string): Promise<Measured> {
  const pool = createDocumentPool(
    loadConfig({ DATA_DIR: folder, SECRET_KEY: `k1:${randomBytes(32).toString('base64')}` }).documents,
  );
  const html = { tags: [], classes: [], selectors: [] };
  const chunking = { chunkSize: CHUNKING.chunk_size, chunkOverlap: CHUNKING.chunk_overlap, prefix: null };
  const readOne = async (file: string): Promise<void> => {
    const input = { bytes: new Uint8Array(), path: file, contentType: null, name: path.basename(file) };
    const { text, cuts } = await pool.process({ ...input, baseUrl: null, html }, chunking);
    if (cuts.length === 0) throw new Error(`${file} has no chunks`);
    if (typeof text !== 'string') text.close();
  };
  try {
    return await measure(['reader'], () => Promise.all(files.paths.map(readOne)));
  } finally {
    await pool.close();
  }
}

const startedAt = new Date();
const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-bench-documents-'));
const lines: string[] = [];
try {
  ensureBaselines(printLine);
  printLine('our chunker compared with LangChain’s');
  const sides = await compareChunkers(folder, ITERATIONS);
  const ours = sides[0]?.megabytesPerSecond ?? Number.NaN;
  lines.push(
    table(
      ['who', 'tokenizer', 'MB/s', 'chunks', 'ours', 'target', 'met'],
      sides.map(({ splitter, tokenizer, megabytesPerSecond, chunks }, nth) => {
        const ratio = ours / megabytesPerSecond;
        const hasTarget = splitter === 'TokenTextSplitter' && tokenizer === SHIPPED;
        return [
          splitter,
          tokenizer,
          megabytesPerSecond.toFixed(2),
          String(chunks),
          nth === 0 ? '' : `${ratio.toFixed(1)}×`,
          hasTarget ? `≥ ${TARGET_RATIO}×` : '',
          hasTarget ? (ratio >= TARGET_RATIO ? 'yes' : 'MISSED') : '',
        ];
      }),
    ),
    '',
    `Text: the READMEs of our packages, 4 million characters (${SHIPPED}: 400,000). ` +
      `Chunks of ${CHUNKING.chunk_size} tokens with an overlap of ${CHUNKING.chunk_overlap}. MB per second of ` +
      `processor time, median of ${ITERATIONS} iterations, each splitter in its own process. The target applies to ` +
      `LangChain’s token splitter as published, with ${SHIPPED}. The rows with gpt-tokenizer run LangChain’s ` +
      'splitters with that faster tokenizer, to separate the cost of counting from that of cutting; they have no target.',
    '',
  );

  printLine('making files');
  const all = await makeFiles(folder, SIZES);
  const rows: string[][] = [];
  const alone = new Map<string, Measured>();
  for (const files of all) {
    printLine(`readers: ${files.what}`);
    alone.set(files.what, await read(files, folder));
  }
  const service = await startBenchService({ siteHost: '127.0.0.1:9', profileDir: null, printLine });
  try {
    for (const files of all) {
      printLine(`service: ${files.what}`);
      const user = await service.user();
      const limit = pLimit(UPLOADS);
      const whole = await measure(['api', 'worker', 'reader'], async () => {
        const sent = await Promise.all(
          files.paths.map((file) =>
            limit(async () =>
              user.send(
                { name: path.basename(file), content: await readFile(file) },
                { ...CHUNKING, generate_chunks_only: true },
              ),
            ),
          ),
        );
        if (sent.length > 1) await allSettled(user);
        for (const { id } of [sent[0], sent.at(-1)].filter((file) => file !== undefined)) {
          const { sync_status, sync_error_message } = await user.settled(id, SETTLE_MS);
          if (sync_status !== 'READY') throw new Error(`${files.what}: ${sync_status}, ${sync_error_message}`);
        }
      });
      const size = files.bytes / 1e6;
      const cells = (measured: Measured | undefined): string[] =>
        measured
          ? [measured.seconds.toFixed(1), (size / measured.seconds).toFixed(2), megabytes(measured.peakBytes)]
          : ['', '', ''];
      rows.push([files.what, size.toFixed(1), ...cells(alone.get(files.what)), ...cells(whole)]);
    }
  } finally {
    await service.stop();
  }
  const columns = ['readers: s', 'MB/s', 'peak', 'service: s', 'MB/s', 'peak'];
  lines.push(
    table(['what', 'MB', ...columns], rows),
    '',
    'Readers: one process including its start; peak is its memory. Service: from the first uploaded byte until all files are READY, with chunks and without vectors; peak is the memory of API, worker and reader together. Each small file is a separate upload, so the service needs much longer for them than the readers alone.',
    '',
  );
} finally {
  await rm(folder, { recursive: true, force: true });
}
const head = [
  '# Documents',
  '',
  `${startedAt.toISOString()} · ${quick ? 'quick' : 'full'} form, ${((Date.now() - startedAt.getTime()) / 60_000).toFixed(1)} minutes · ${environment()}`,
  '',
];
const text = [...head, ...lines].join('\n');
await writeReport(RESULTS, text);
console.log(text);
process.exit(0);
