import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import type { PoolSettings } from '../../../documents/pool.js';
import type { ReaderCrash } from '../../../documents/readers.js';
import type { ChunkOptions, DocumentPool } from '../../../documents/types.js';
import { thoroughly } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';
import { FILES, input, LIMITS } from '../../documents/page.js';
import { upload } from '../../documents/readFile.js';
import { faultOf } from '../../support/faultOf.js';
import { loadDocumentPool } from '../../support/product.js';

const { createDocumentPool } = await loadDocumentPool();

const pools: DocumentPool[] = [];
const startPool = (settings: Partial<PoolSettings> = {}, crashes: ReaderCrash[] = []): DocumentPool => {
  const pool = createDocumentPool(
    { threads: 1, timeoutMs: 60_000, memoryMb: 256, limits: LIMITS, files: FILES, ...settings },
    (crash) => crashes.push(crash),
  );
  pools.push(pool);
  return pool;
};
afterAll(() => Promise.all(pools.map((pool) => pool.close())));

/** For tests that need no settings of their own and leave no reader busy: each pool starts its own readers. */
const sharedPool = startPool();

const CHUNKING: ChunkOptions = { chunkSize: 100, chunkOverlap: 10, prefix: null };
const text = (content: string): ReturnType<typeof input> =>
  input(content, { contentType: 'text/plain', name: 'a.txt' });
/** A document that keeps a thread busy for longer than the duration of any test. */
const endless = (): ReturnType<typeof input> => text('qz'.repeat(9_000_000));

test('parses and chunks in a thread', async () => {
  const page = input('<html lang=en><title>Harbour</title><h1>Harbour</h1><p>Built in 1874.');
  await expect(sharedPool.process(page, CHUNKING)).resolves.toEqual({
    text: '# Harbour\n\nBuilt in 1874.',
    format: 'HTML',
    mimeType: 'text/html',
    metadata: { title: 'Harbour', language: 'en' },
    prefix: '',
    cuts: [{ tokens: 9, start: 0, end: 25 }],
    numTokens: 9,
  });
});

test('rejects with the Fault that was thrown', async () => {
  const fault = await faultOf(sharedPool.process(input('<body></body>'), CHUNKING));
  expect([fault.kind, fault.retryable]).toEqual(['no_text', false]);
  expect(fault.message).toMatch(/no readable text/);
  const selector = input('<p>x', { html: { tags: [], classes: [], selectors: ['p['] } });
  expect((await faultOf(sharedPool.process(selector, CHUNKING))).kind).toBe('broken_content');
});

test('ends a hanging document at its timeout, and reads the documents queued after it', async () => {
  const pool = startPool({ timeoutMs: 1000 });
  const hang = faultOf(pool.process(endless(), CHUNKING));
  const queued = ['one', 'two', 'three'].map((word) => pool.process(text(word), CHUNKING));
  const fault = await hang;
  expect(fault.kind).toBe('parse_limit');
  expect(fault.message).toMatch(/within 1 s \(setting PARSE_TIMEOUT_MS\)/);
  expect((await Promise.all(queued)).map((document) => document.text)).toEqual(['one', 'two', 'three']);
});

test('limits memory, and reads the next document', async () => {
  const pool = startPool({ memoryMb: 100 });
  const fault = await faultOf(pool.process(input('<p>x'.repeat(3_000_000)), CHUNKING));
  expect(fault.kind).toBe('parse_limit');
  expect(fault.message).toMatch(/100 MB of memory \(setting PARSE_MEMORY_MB\)/);
  expect((await pool.process(text('next'), CHUNKING)).text).toBe('next');
});

test('rejects with the reason of an abort, and frees the thread', async () => {
  await sharedPool.process(text('warm'), CHUNKING);
  const running = new AbortController();
  const waiting = new AbortController();
  const work = [
    sharedPool.process(endless(), CHUNKING, running.signal),
    sharedPool.process(text('no'), CHUNKING, waiting.signal),
  ];
  const queued = sharedPool.process(text('queued'), CHUNKING);
  waiting.abort(new Error('not needed'));
  setTimeout(() => running.abort(new Error('cancelled')), 200);
  const outcomes = await Promise.allSettled(work);
  expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? String(outcome.reason) : outcome.status))).toEqual([
    'Error: cancelled',
    'Error: not needed',
  ]);
  expect((await queued).text).toBe('queued');
  await expect(sharedPool.process(text('x'), CHUNKING, AbortSignal.abort(new Error('before')))).rejects.toThrow(
    'before',
  );
});

test("keeps the caller's event loop running", async () => {
  await sharedPool.process(text('warm'), CHUNKING);
  let ticks = 0;
  const clock = setInterval(() => ticks++, 10);
  await sharedPool.process(text('word and word. '.repeat(150_000)), CHUNKING);
  clearInterval(clock);
  expect(ticks).toBeGreaterThan(5);
});

test('runs threads in parallel', async () => {
  const pool = startPool({ threads: 2, timeoutMs: 30_000 });
  const stop = new AbortController();
  const busy = pool.process(endless(), CHUNKING, stop.signal);
  expect((await pool.process(text('beside'), CHUNKING)).text).toBe('beside');
  stop.abort(new Error('done'));
  await expect(busy).rejects.toThrow('done');
});

test('transfers large bytes that own their memory when allowed, and copies others', async () => {
  const transferred = { ...text('handed over. '.repeat(20_000)), transferBytes: true };
  const copied = text('kept. '.repeat(40_000));
  const shared = new TextEncoder().encode('xxcopied').subarray(2);
  expect((await sharedPool.process(transferred, CHUNKING)).text).toMatch(/^handed over/);
  expect((await sharedPool.process({ ...transferred, bytes: shared }, CHUNKING)).text).toBe('copied');
  await sharedPool.process(copied, CHUNKING);
  expect([transferred.bytes.byteLength, shared.byteLength, copied.bytes.byteLength]).toEqual([0, 6, 240_000]);
});

thoroughly('answers each of several small documents read together; a slow one fails alone', async () => {
  const pool = startPool({ timeoutMs: 1_500 });
  await pool.process(text('warm'), CHUNKING);
  // A small file that takes long: each element is compared with all earlier ones, recursively (200 elements take half a
  // minute).
  const html = { tags: [], classes: [], selectors: ['zz ~ * ~ * ~ * ~ *'] };
  const heavy = { ...input('<p>x'.repeat(2_000)), html };
  const words = Array.from({ length: 20 }, (_, number) => `word ${number}`);
  const readings = words.map((word) => pool.process(text(word), CHUNKING));
  const empty = faultOf(pool.process(input('<body></body>'), CHUNKING));
  const hang = faultOf(pool.process(heavy, CHUNKING));
  const queued = words.map((word) => pool.process(text(`${word} queued`), CHUNKING));
  expect((await Promise.all(readings)).map((document) => document.text)).toEqual(words);
  expect((await empty).kind).toBe('no_text');
  expect((await hang).message).toMatch(/within 1.5 s \(setting PARSE_TIMEOUT_MS\)/);
  expect((await Promise.all(queued)).map((document) => document.text)).toEqual(words.map((word) => `${word} queued`));
});

test('keeps reading the other documents of a group when one caller aborts', async () => {
  await sharedPool.process(text('warm'), CHUNKING);
  const stop = new AbortController();
  const aborted = sharedPool.process(text('left'), CHUNKING, stop.signal);
  const completed = sharedPool.process(text('stays'), CHUNKING);
  stop.abort(new Error('gave up'));
  await expect(aborted).rejects.toThrow('gave up');
  expect((await completed).text).toBe('stays');
});

test('rejects new documents after close, and ends running ones', async () => {
  const pool = startPool();
  const running = pool.process(endless(), CHUNKING).catch((error: unknown) => error);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await pool.close();
  await expect(running).resolves.toMatchObject({ message: expect.any(String) });
  await expect(pool.process(text('x'), CHUNKING)).rejects.toThrow(/closed/);
});

const FILE_LIMITS = { processes: 1, timeoutMs: 30_000, memoryMb: 300 };

test('reads a file in a process, from memory or from disk', async () => {
  expect((await sharedPool.process(upload('name;city\nAnna;Bern\nBo;Oslo\n', 'a.csv'), CHUNKING)).text).toBe(
    'name: Anna, city: Bern\nname: Bo, city: Oslo',
  );
  const path = join(mkdtempSync(join(tmpdir(), 'file-')), 'a.csv');
  writeFileSync(path, 'x,y\n1,2\n3,4\n');
  expect((await sharedPool.process({ ...upload('', 'a.csv'), path }, CHUNKING)).text).toBe('x: 1, y: 2\nx: 3, y: 4');
});

test('limits memory outside of the heap: ends the process, and reads the next file', async () => {
  const pool = startPool({ files: FILE_LIMITS });
  const bytes = new Uint8Array(150_000_000).fill(120);
  const fault = await faultOf(pool.process(upload(bytes, 'a.csv'), CHUNKING));
  expect(fault.kind).toBe('parse_limit');
  expect(fault.message).toMatch(/300 MB of memory \(setting PARSE_FILE_MEMORY_MB\)/);
  expect((await pool.process(upload('next', 'a.txt'), CHUNKING)).text).toBe('next');
});

test('ends a file at its timeout, and reads the files queued after it', async () => {
  const pool = startPool({ files: { ...FILE_LIMITS, timeoutMs: 1500 } });
  await pool.process(upload('warm', 'a.txt'), CHUNKING);
  // A pipe without a writer: it is never read to its end, however fast the machine.
  const path = join(mkdtempSync(join(tmpdir(), 'file-')), 'a.txt');
  execFileSync('mkfifo', [path]);
  const hang = faultOf(pool.process({ ...upload('', 'a.txt'), path }, CHUNKING));
  const queued = ['one', 'two', 'three'].map((word) => pool.process(upload(word, 'a.txt'), CHUNKING));
  expect((await hang).message).toMatch(/within 1.5 s \(setting PARSE_FILE_TIMEOUT_MS\)/);
  expect((await Promise.all(queued)).map(({ text: read }) => read)).toEqual(['one', 'two', 'three']);
});

test('refuses a file above the size limit before reading it', async () => {
  const pool = startPool({ limits: { ...LIMITS, maxFileBytes: 10 } });
  const fault = await faultOf(pool.process(upload('a longer text', 'a.txt'), CHUNKING));
  expect([fault.kind, fault.message]).toEqual(['too_large', expect.stringMatching(/MAX_DOCUMENT_BYTES: 10/)]);
});

test('reports a text folder that cannot be written as a retryable fault, and its reader continues', async () => {
  const pool = startPool({ files: { ...FILES, textFolder: join(tmpdir(), 'allotrope-no-such-folder') } });
  // Longer than the texts that processes exchange in memory.
  const fault = await faultOf(pool.process(upload('Words of a long report. '.repeat(180_000), 'a.txt'), CHUNKING));
  expect([fault.kind, fault.retryable, fault.message]).toEqual([
    'disk_failed',
    true,
    expect.stringMatching(/allotrope-no-such-folder.*TMPDIR.*Free some space/),
  ]);
  await expect(pool.process(upload('Short.', 'b.txt'), CHUNKING)).resolves.toMatchObject({ text: 'Short.' });
});

const children = (): number[] =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
/** Creates a pipe that blocks its reader until it is written. */
const blockingFile = (): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'file-')), 'a.txt');
  execFileSync('mkfifo', [path]);
  return path;
};
/** Kills the reader process that a pool has started since `before`, once it runs. */
const killReader = async (before: readonly number[]): Promise<void> => {
  const reader = await waitFor(
    () =>
      children().find((pid) => !before.includes(pid) && readFileSync(`/proc/${pid}/cmdline`).includes('poolProcess')),
    (pid) => pid !== undefined,
  );
  process.kill(reader ?? 0, 'SIGKILL');
};

test('sends no file to a process that was ended as idle', async () => {
  const crashes: ReaderCrash[] = [];
  const idleMs = 20;
  const pool = startPool({ files: { ...FILES, idleMs } }, crashes);
  // Long enough to be sent alone.
  const long = upload('Words of a report. '.repeat(10_000), 'a.txt');
  await pool.process(long, CHUNKING);
  const next = new Promise((resolve) => {
    setTimeout(() => resolve(pool.process(long, CHUNKING)), idleMs);
    // Both timers are due when the loop continues: the process is killed, and its exit is not reported yet.
    execFileSync('sleep', ['0.05']);
  });
  await expect(next).resolves.toMatchObject({ format: 'TXT' });
  expect(crashes).toEqual([]);
});

test('reads a file once more, alone, after its reader crashed, and reports the crash', async () => {
  const crashes: ReaderCrash[] = [];
  const pool = startPool({}, crashes);
  const path = blockingFile();
  const before = children();
  const reading = pool.process({ ...upload('', 'a.txt'), path }, CHUNKING);
  await killReader(before);
  await writeFile(path, 'read the second time');
  expect((await reading).text).toBe('read the second time');
  expect(crashes).toEqual([
    {
      ...{ reader: 'process', pid: expect.any(Number), exitCode: null, signal: 'SIGKILL', detail: '' },
      ...{ memoryMb: expect.any(Number), limitMb: FILES.memoryMb, documents: 1 },
    },
  ]);
});

test('fails a file whose reader crashed twice, and names the signal and the memory in use', async () => {
  const crashes: ReaderCrash[] = [];
  const pool = startPool({}, crashes);
  const path = blockingFile();
  const before = children();
  const fault = faultOf(pool.process({ ...upload('', 'a.txt'), path }, CHUNKING));
  await killReader(before);
  await waitFor(
    () => crashes.length,
    (count) => count === 1,
  );
  await killReader(before);
  expect(await fault).toMatchObject({
    kind: 'parse_limit',
    message: expect.stringMatching(/the process that read it died \(SIGKILL, \d+ MB of 1024 MB of memory in use\)/),
  });
  expect(crashes).toHaveLength(2);
});

test('closes although a process could not be started', async () => {
  const pool = startPool();
  const { process: node } = globalThis.globalOfNode;
  const { execPath } = node;
  try {
    node.execPath = join(tmpdir(), 'allotrope-no-such-program');
    expect((await faultOf(pool.process(upload('Words.', 'a.txt'), CHUNKING))).kind).toBe('parse_limit');
  } finally {
    node.execPath = execPath;
  }
  await pool.close();
});

test('does not count time in which the caller was stopped as reading time', async () => {
  const pool = startPool({ files: { ...FILES, timeoutMs: 3_000 } });
  await pool.process(upload('warm', 'a.txt'), CHUNKING);
  const path = blockingFile();
  const reading = pool.process({ ...upload('', 'a.txt'), path }, CHUNKING);
  // The answer arrives while this process is stopped. It is stopped in a timer: other due timers run before the answer
  // is received.
  setTimeout(() => execFileSync('sh', ['-c', `echo answered > ${path}; sleep 4`]), 300);
  expect((await reading).text).toBe('answered');
});
