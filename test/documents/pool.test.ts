/** Which reader receives a document, and how the recognition of a page obtains the data that it needs. */
import { beforeEach, expect, jest, test } from '@jest/globals';

import { Fault } from '../../contract/failures.js';
import type { PoolAnswer, PoolDocument } from '../../documents/answerTask.js';
import type { PoolSettings } from '../../documents/pool.js';
import { FILES, input, LIMITS } from './page.js';

/** The readers that the pool creates, with the documents that each received. */
interface Made {
  readonly settings: { readonly processes?: number; readonly names?: { readonly timeout: string } };
  readonly documents: PoolDocument[];
  readonly groups: number[];
  closes: number;
}
let [threads, processes, pictures]: (Made | undefined)[] = [];
let answer: (document: PoolDocument) => PoolAnswer;
const make = (settings: Made['settings']) => {
  const made: Made = { settings, documents: [], groups: [], closes: 0 };
  const readers = {
    run: async (documents: readonly PoolDocument[]) => {
      made.documents.push(...documents);
      made.groups.push(documents.length);
      return documents.map((document) => answer(document));
    },
    close: async () => void (made.closes += 1),
  };
  return { made, readers };
};
jest.unstable_mockModule('../../documents/threads.js', () => ({
  createThreads(settings: Made['settings']) {
    const { made, readers } = make(settings);
    threads = made;
    return readers;
  },
}));
jest.unstable_mockModule('../../documents/processes.js', () => ({
  createProcesses(settings: Made['settings']) {
    const { made, readers } = make(settings);
    if (settings.names?.timeout === 'OCR_PAGE_TIMEOUT_MS') pictures = made;
    else processes = made;
    return readers;
  },
}));
const present = new Set<string>();
const ensured: string[] = [];
let dataCloses = 0;
let ensure: (code: string) => Promise<void>;
jest.unstable_mockModule('../../documents/ocr/data/languageData.js', () => ({
  installing: () => '',
  nameOf: () => '',
  createLanguageData: () => ({
    present: (codes: readonly string[]) => codes.filter((code) => present.has(code)),
    async ensure(code: string) {
      ensured.push(code);
      await ensure(code);
      present.add(code);
    },
    close: () => void (dataCloses += 1),
  }),
}));
const { createDocumentPool } = await import('../../documents/pool.js');

const OCR = {
  ...{ ...FILES, processes: 3, languages: ['eng', 'deu'], maxPixels: 7, niceness: 5, folder: '/data' },
} as NonNullable<PoolSettings['ocr']>;
const open = (ocr: boolean) =>
  createDocumentPool({
    ...{ threads: 2, timeoutMs: 1_000, memoryMb: 9, limits: LIMITS, files: FILES },
    ...(ocr && { ocr: OCR }),
  });
const CHUNKING = { chunkSize: 100, chunkOverlap: 10, prefix: null };
const PAGE = { text: 'read' };
/** Makes each answer request the first of these codes whose OCR data is missing, or return the page if none is. */
const needing = (...codes: string[]) => {
  answer = (document) => {
    const missing = codes.find((code) => !document.recognition!.settings.present.includes(code as never));
    return { document: (missing === undefined ? PAGE : { needs: missing }) as never };
  };
};
const recognize = (options: object = {}) => open(true).recognize(input('picture'), options as never);

beforeEach(() => {
  present.clear();
  ensured.splice(0);
  dataCloses = 0;
  ensure = async () => undefined;
  answer = () => ({ document: { urls: [], text: '' } });
});

test('reads pages of sites and their links in threads, and files in processes', async () => {
  const pool = open(false);
  await pool.process(input('page'), CHUNKING);
  await pool.links(input('', { name: 'links', path: '/a.html' }), {} as never);
  await pool.process(input('file', { baseUrl: null }), CHUNKING);
  // A page that is stored on the disk may be as large as an uploaded file, so a process reads it.
  await pool.process(input('', { path: '/page.html' }), CHUNKING);
  expect(threads!.documents.map(({ links }) => links !== undefined)).toEqual([false, true]);
  expect(processes!.documents.map(({ input: { path } }) => path)).toEqual([undefined, '/page.html']);
  await pool.close();
  expect([threads!.closes, processes!.closes]).toEqual([1, 1]);
});

test('recognizes pictures in processes of their own, and rejects them if OCR is disabled', async () => {
  needing();
  expect(await recognize()).toEqual(PAGE);
  expect([pictures!.documents.length, processes!.documents.length]).toEqual([1, 0]);
  expect(pictures!.settings).toMatchObject({ niceness: 5, processes: 3 });
  expect(pictures!.documents[0]!.recognition!.settings).toMatchObject({
    ...{ languages: ['eng', 'deu'], maxPixels: 7, engine: { kind: 'wasm', folder: '/data' } },
  });
  await expect(open(false).recognize(input('picture'), {} as never)).rejects.toThrow('without OCR');
});

test('obtains the OCR data of each code that a page needs, and then reads the page again', async () => {
  needing('osd', 'deu');
  expect(await recognize()).toEqual(PAGE);
  expect(ensured).toEqual(['osd', 'deu']);
  expect(pictures!.documents.map(({ recognition }) => recognition!.settings.present)).toEqual([
    [],
    ['osd'],
    ['osd', 'deu'],
  ]);
});

test("considers the languages of the request instead of the operator's", async () => {
  for (const code of ['eng', 'deu', 'fra', 'osd']) present.add(code);
  needing();
  await recognize({ languages: ['fra'] });
  expect(pictures!.documents[0]!.recognition!.settings.present).toEqual(['osd', 'fra']);
  await recognize();
  expect(pictures!.documents[0]!.recognition!.settings.present).toEqual(['osd', 'eng', 'deu']);
});

test('rejects a page if OCR data that it needs cannot be obtained, with the error of the attempt', async () => {
  const fault = new Fault('not_configured', 'No data.');
  ensure = async () => {
    throw fault;
  };
  needing('deu');
  await expect(recognize()).rejects.toBe(fault);
  // The page was read again with the data marked as refused, because another language may suffice.
  expect(pictures!.documents.map(({ recognition }) => recognition!.settings.refused)).toEqual([[], ['deu']]);
  expect(ensured).toEqual(['deu']);
  const stopped = new Error('stopped');
  ensure = async () => {
    throw stopped;
  };
  await expect(recognize()).rejects.toBe(stopped);
  expect(pictures!.documents).toHaveLength(1);
});

test('closing ends the downloads and all readers', async () => {
  const pool = open(true);
  await pool.close();
  expect([threads!.closes, processes!.closes, pictures!.closes, dataCloses]).toEqual([1, 1, 1, 1]);
});

test('passes an abort of the caller to each reader', async () => {
  const pool = open(true);
  needing();
  const stop = AbortSignal.abort(new Error('the caller has left'));
  for (const work of [
    () => pool.process(input('page'), CHUNKING, stop),
    () => pool.process(input('file', { baseUrl: null }), CHUNKING, stop),
    () => pool.links(input('page'), {} as never, stop),
    () => pool.recognize(input('picture'), {} as never, stop),
  ])
    await expect(work()).rejects.toThrow('the caller has left');
  await pool.close();
});
