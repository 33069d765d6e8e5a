/** Tests of how a file is fetched, read and embedded before it is stored. Stores, sources, readers and models are fakes. */
import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';

import { prepareFile } from '../../activities/ingest/prepare/prepareFile.js';
import { processingFor } from '../../activities/ingest/prepare/processing.js';
import { newAttemptCost } from '../../activities/ingest/prepare/attemptCost.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import { Fault } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

const URL_OF_PAGE = 'https://site.example/a';
const BYTES = Buffer.from('<p>Hello</p>');
const HASH = createHash('sha256').update(BYTES).digest('hex');
const ADA = { organizationId: 1, userId: 2 };
const SPACE = { name: 'space', dimensions: 1 };
const PICTURE_SPACE = { name: 'pictures', dimensions: 1 };
const fileOf = (fields: object = {}, options: object = {}) => ({
  ...{ _id: 3, ...ADA, runId: 7, source: 'WEB_SCRAPE', externalFileId: URL_OF_PAGE, externalUrl: URL_OF_PAGE },
  ...{ name: 'A', syncStatus: 'SYNCING', generation: 1, lastGeneration: 2, rawHash: null, processedAs: null },
  ...{ etag: '"1"', lastModified: null, fileMetadata: {}, statistics: null, original: null, dataSourceId: null },
  ...{ parentId: null, tagPairs: [], tagsRevision: 4, sourceOptions: {}, unfinishedStarts: 1, hasContent: true },
  options: { ...DEFAULT_INGEST_OPTIONS, ...options },
  ...fields,
});
const OPENED = {
  ...{ bytes: BYTES, contentType: 'text/html', format: 'HTML', mimeType: 'text/html', url: URL_OF_PAGE },
  ...{ html: { tags: [], classes: [], selectors: [] }, validators: { etag: '"2"', lastModified: null } },
  fileMetadata: { fetched_with: 'http' },
};
const DOCUMENT = {
  ...{ text: 'one two', prefix: 'A: ', numTokens: 3, format: 'HTML', mimeType: 'text/html', metadata: { title: 'T' } },
  cuts: [
    { start: 0, end: 3, tokens: 1 },
    { start: 4, end: 7, tokens: 2 },
  ],
};
const ORIGINAL = { id: 'o', size: 12, sha256: HASH };
const UPLOAD = {
  ...{ source: 'TEXT', original: ORIGINAL, externalFileId: 'u', externalUrl: null },
  statistics: { fileFormat: 'PDF', mimeType: 'application/pdf' },
};
const settings = { ocr: { engine: 'wasm', maxPages: 2, languages: ['eng'] } };
const models = [{ model: 'VERTEX_MULTIMODAL', takesImages: true, space: PICTURE_SPACE }];
const embeddings = { spaceOf: () => SPACE, models: () => models };
/** Returns the fields of a file whose stored copy was processed with its current options. */
const current = (file: object) => ({
  ...file,
  ...{ rawHash: HASH, processedAs: processingFor(file as never, null, { embeddings, settings } as never).processedAs },
});

interface Trial {
  readonly file?: object;
  readonly answers?: Answers;
  /** Fields of the fetched content; null: the stored copy is current. */
  readonly opened?: object | null;
  /** Returns the document that the reader returns, or throws. */
  readonly read?: (input: { readonly beforeOcr?: boolean }) => object;
  readonly cached?: readonly string[];
  readonly embed?: () => void;
  readonly admit?: () => void;
  readonly transcript?: object | null;
}

async function prepare(trial: Trial) {
  const { file = fileOf(), answers = {}, opened = {}, cached = [], transcript = null } = trial;
  const { read = () => DOCUMENT } = trial;
  const steps: string[] = [];
  const calls: Record<string, unknown[][]> = {};
  const note = (name: string, ...args: unknown[]): void => {
    steps.push(name);
    (calls[name] ??= []).push(args);
  };
  const recorded = recorder({
    'contents.saveIfLarge': (owner: object, bytes: Uint8Array) => ({ ...owner, bytes }),
    'originals.open': { bytes: BYTES, close: async () => note('close') },
    'recognizedPages.find': new Map(),
    ...answers,
  });
  const store = {
    ...(recorded.stores as object),
    transaction: (work: (session: null) => unknown) => Promise.resolve(work(null)),
    embeddingUsage: { count: (...args: unknown[]) => note('usage', ...args) },
    transcripts: { find: async () => ({ transcript, job: null }) },
    vectorCache: {
      async resolve(_organization: number, _space: unknown, texts: string[], compute: (some: string[]) => unknown) {
        await compute(texts.filter((text) => !cached.includes(text)));
        return texts.map(() => new Float32Array(1));
      },
    },
  };
  const embedding = (name: string) => (space: string, items: unknown, third: unknown) => {
    note(name, space, items, third);
    trial.embed?.();
    return Promise.resolve((items as unknown[]).map(() => new Float32Array(1)));
  };
  const deps = {
    ...{ store, settings, log: { error: () => undefined } },
    embeddings: {
      ...{ ...embeddings, prepare: (space: string) => note('prepare', space) },
      ...{ embed: embedding('embed'), embedImages: embedding('embedImages') },
    },
    sources: {
      open(ref: { known: unknown }) {
        note('open', ref.known);
        return Promise.resolve(opened && { ...OPENED, ...opened });
      },
      download(url: string, _signal: unknown, take: (download: object) => unknown) {
        note('download', url);
        return take({ contentType: 'text/plain', name: null, finalUrl: 'https://files.example/b.txt', body: [] });
      },
    },
    documents: {
      async process(input: object, chunking: object) {
        note('read', input, chunking);
        return read(input);
      },
    },
    identify: () => ({ format: 'TXT', mimeType: 'text/plain' }),
    loadCounter: async () => (text: string) => text.length,
    encodeSparse: (text: string) => text,
    metrics: {
      contentReceived: (...args: unknown[]) => note('received', ...args),
      embedded: ({ outcome, texts, tokens }: Record<string, unknown>) => note('embedded', outcome, texts, tokens),
    },
  };
  const attempt = newAttemptCost();
  const preparation = {
    ...{ attempt, keepLinks: null, fetchedAhead: async () => null, evidenceOf: async () => null },
    async admit(characters: number) {
      note('admit', characters);
      trial.admit?.();
    },
    tokens: { reserve: async (n: number) => note('reserve', n), release: async (n: number) => note('release', n) },
  };
  const { signal } = new AbortController();
  const started = { file, generation: 2 };
  const end = await prepareFile(7, started as never, deps as never, signal, preparation).catch(
    (error: unknown) => error,
  );
  const prepared = end as Exclude<Awaited<ReturnType<typeof prepareFile>>, null>;
  return { ...recorded, end, prepared, steps, called: (name: string) => calls[name] ?? [], attempt };
}

test('a new page is fetched, read, admitted and embedded in this order, and its record has the values of each step', async () => {
  const warning = { cause: 'truncated', message: 'cut' };
  const read = () => ({ ...DOCUMENT, warnings: [warning], sourceCreatedAt: '2026-01-02T00:00:00.000Z' });
  const { prepared, steps, called, attempt, of } = await prepare({ read });
  const order = ['prepare', 'open', 'received', 'read', 'admit', 'reserve', 'embed'];
  expect(steps.filter((step) => order.includes(step))).toEqual(order);
  expect([called('open'), called('received')]).toEqual([[[null]], [['WEB_SCRAPE', 'new', BYTES.length]]]);
  expect([called('admit'), called('embed')]).toEqual([[[7]], [['space', ['A: one', 'A: two'], 'document']]]);
  expect([attempt.stage, attempt.bytes, attempt.tokens]).toEqual(['embed', BYTES.length, 3]);
  expect(prepared.finished).toMatchObject({
    ...{ runId: 7, tagsRevision: 4, warning: 'truncated', sourceCreatedAt: new Date('2026-01-02') },
    fileMetadata: { fetched_with: 'http', title: 'T', warnings: [warning] },
    content: {
      ...{ generation: 2, numChunks: 2, vectorSpace: 'space', dimensions: 1, hasContent: true, hasText: true },
      ...{ rawHash: HASH, etag: '"2"', version: null },
      statistics: { fileFormat: 'HTML', fileSize: 12, numCharacters: 7, numTokens: 3, numEmbeddings: 2 },
    },
  });
  expect(prepared.content).toMatchObject({ ...ADA, fileId: 3, generation: 2, bytes: BYTES });
  expect(of('files.startChanged')).toEqual([]);
});

test('an unchanged page is neither read nor written: its server or its hash shows that it is the same', async () => {
  const file = current(fileOf({ syncStatus: 'EVALUATING_RESYNC' }));
  for (const opened of [null, {}]) {
    const { end, called, of, steps } = await prepare({ file, opened });
    expect([end, called('open')]).toEqual([null, [[{ etag: '"1"', lastModified: null }]]]);
    expect(called('received')).toEqual([['WEB_SCRAPE', 'unchanged', opened === null ? 0 : BYTES.length]]);
    expect([of('files.startChanged'), steps.includes('read'), steps.includes('prepare')]).toEqual([[], false, false]);
  }
  const changed = await prepare({ file, opened: { bytes: Buffer.from('other') } });
  expect([changed.of('files.startChanged'), changed.steps.includes('read')]).toEqual([[[7, [3]]], true]);
});

test('a file is stored without being read if its options request it', async () => {
  const { prepared, steps, called } = await prepare({ file: fileOf({}, { storeFileOnly: true }) });
  expect(['read', 'admit', 'embed', 'prepare'].filter((step) => steps.includes(step))).toEqual([]);
  expect(called('received')).toHaveLength(1);
  expect(prepared).toMatchObject({ document: null, space: null, vectors: [], content: { bytes: BYTES } });
  expect(prepared.finished.content).toMatchObject({ numChunks: 0, hasText: false, vectorSpace: null, rawHash: HASH });
});

test('if a text exceeds a limit or cannot be embedded, its temporary file is deleted and its tokens freed', async () => {
  let closed = 0;
  const text = {
    length: 7,
    slice: (from: number, to: number) => 'one two'.slice(from, to),
    close: () => (closed += 1),
  };
  const read = () => ({ ...DOCUMENT, text });
  const fault = new Fault('over_limit', 'It is too long.');
  const refused = await prepare({
    read,
    admit() {
      throw fault;
    },
  });
  expect([refused.end, closed, refused.called('embed')]).toEqual([fault, 1, []]);
  const down = new Fault('embedding_failed', 'The provider is down.');
  const failed = await prepare({
    read,
    embed() {
      throw down;
    },
  });
  expect([failed.end, closed]).toEqual([down, 2]);
  expect([failed.called('reserve'), failed.called('release')]).toEqual([[[3]], [[3]]]);
  expect([failed.attempt.stage, failed.attempt.tokens, failed.called('usage')]).toEqual(['embed', 0, []]);
});

test('only the texts whose vectors are not stored are embedded and take tokens; the others count as reused', async () => {
  const { called, attempt, prepared } = await prepare({ cached: ['A: one'] });
  expect([called('reserve'), called('embed')]).toEqual([[[2]], [['space', ['A: two'], 'document']]]);
  expect(called('embedded')).toEqual([
    ['computed', 1, 2],
    ['reused', 1, 1],
  ]);
  expect(called('usage').map(([, , counts]) => counts)).toEqual([{ computed: 1 }, { reused: 1 }]);
  expect([attempt.tokens, attempt.reused, prepared.finished.cost]).toEqual([2, 1, { bytes: 12, tokens: 2, reused: 1 }]);
});

test('the reader gets the options of the file, and the name of the file as prefix only on request', async () => {
  const options = { chunkSize: 5, chunkOverlap: 1, setPageAsBoundary: true, maxItemsPerChunk: 2, splitRows: true };
  const plain = await prepare({ file: fileOf({}, options) });
  expect(plain.called('read')[0]?.[1]).toEqual({ ...options, prefix: null });
  expect(plain.called('read')[0]?.[0]).toMatchObject({
    ...{ bytes: BYTES, contentType: 'text/html', name: URL_OF_PAGE, baseUrl: URL_OF_PAGE, owner: 2 },
    transferBytes: false,
  });
  const named = await prepare({
    file: fileOf({}, { prependFilenameToChunks: true, generateSparseVectors: true }),
    answers: { 'contents.saveIfLarge': null },
  });
  expect(named.called('read')[0]).toMatchObject([{ transferBytes: true }, { prefix: 'A' }]);
  expect(named.prepared.content).toBeNull();
  expect([0, 1, 2].map((chunk) => named.prepared.sparseOf?.(chunk))).toEqual(['A: one', 'A: two', null]);
  expect(plain.prepared.sparseOf).toBeUndefined();
});

const CRASHES = [
  ['parse_limit', true],
  ['quarantined', true],
  ['broken_content', false],
  ['disk_failed', false],
] as const;
test('only an error that ended the reader of a content is counted as a crash', () =>
  everyRow(
    CRASHES,
    ([kind]) => kind,
    async ([kind, isCounted]) => {
      const fault = new Fault(kind, 'It failed.');
      const { end, of } = await prepare({
        read() {
          throw fault;
        },
      });
      expect([end, of('files.recordCrash')]).toEqual([fault, isCounted ? [[7, 3, HASH]] : []]);
    },
  ));

test('a defect in a reader fails the file and not its batch', async () => {
  const { end } = await prepare({
    read() {
      throw new TypeError('undefined is not a function');
    },
  });
  expect(end).toMatchObject({ kind: 'broken_content' });
});

test('a scanned document waits for OCR of its pages without text, and is then read with their text', async () => {
  const file = fileOf(UPLOAD, { useOcr: true, parsePdfTablesWithOcr: true });
  const read = ({ beforeOcr }: { beforeOcr?: boolean }) => ({
    ...DOCUMENT,
    ...(beforeOcr === true && { pagesWithoutText: [2, 5] }),
  });
  const waiting = await prepare({ file, read });
  expect(waiting.end).toMatchObject({ step: 'recognize', pages: [2, 5] });
  expect(waiting.called('read')).toMatchObject([[{ beforeOcr: true, findTables: true }, {}]]);
  expect(waiting.called('close')).toHaveLength(1);
  const pages = new Map([2, 5].map((number) => [number, { number }]));
  const answers = { 'recognizedPages.find': pages };
  const recognized = await prepare({ file, read, answers });
  expect(recognized.called('read')[1]).toMatchObject([
    { recognizedPages: [{ number: 2 }, { number: 5 }], findTables: true },
    {},
  ]);
  expect(recognized.prepared.finished.content.numChunks).toBe(2);
  // The pages are known after OCR, so the document is read once.
  const queued = await prepare({ file: { ...file, syncStatus: 'QUEUED_FOR_OCR', ocrPages: [5] }, read, answers });
  expect(queued.called('read')).toMatchObject([[{ recognizedPages: [{ number: 5 }] }, {}]]);
});

test('a scanned document with more pages than OCR may read fails, and one with as many does not', async () => {
  const file = fileOf(UPLOAD, { useOcr: true });
  const readPages = (pagesWithoutText: number[]) => prepare({ file, read: () => ({ ...DOCUMENT, pagesWithoutText }) });
  expect((await readPages([1, 2, 3])).end).toMatchObject({ kind: 'too_large' });
  expect((await readPages([1, 2])).end).toMatchObject({ step: 'recognize' });
  expect((await readPages([])).prepared.finished.content.numChunks).toBe(2);
});

test('a file that was sent as an address is downloaded once, and then counts as an upload', async () => {
  const sent = { source: 'TEXT', sourceOptions: { url: 'https://files.example/b', contentType: null } };
  const draft = { ...ORIGINAL, head: BYTES };
  const answers = { 'originals.receive': draft, 'files.setOriginal': fileOf({ ...UPLOAD, name: 'b.txt' }) };
  const { prepared, called, of } = await prepare({ file: fileOf(sent), answers });
  expect(called('download')).toEqual([['https://files.example/b']]);
  const [[runId, fileId, change] = []] = of('files.setOriginal');
  expect([runId, fileId, change]).toMatchObject([
    ...[7, 3],
    { original: ORIGINAL, name: 'b.txt', sourceOptions: { contentType: 'text/plain' }, statistics: { fileSize: 12 } },
  ]);
  expect([of('originals.accept'), of('originals.discard')]).toMatchObject([[[draft, 3, null]], [[draft]]]);
  expect(prepared.finished.content).toMatchObject({ hasContent: false, rawHash: HASH });
  expect(of('contents.saveIfLarge')).toEqual([]);
  const taken = await prepare({ file: fileOf(sent), answers: { ...answers, 'files.setOriginal': null } });
  expect([taken.end, taken.of('originals.accept')]).toMatchObject([{ kind: 'gone' }, []]);
  expect(taken.of('originals.discard')).toHaveLength(1);
});

test('an upload whose content was deleted fails as gone', async () => {
  expect((await prepare({ file: fileOf({ source: 'TEXT' }) })).end).toMatchObject({ kind: 'gone' });
  const deleted = await prepare({ file: fileOf(UPLOAD), answers: { 'originals.open': null } });
  expect(deleted.end).toMatchObject({ kind: 'gone' });
});

const PICTURE = { ...UPLOAD, source: 'JPG', statistics: { fileFormat: 'JPG', mimeType: 'image/jpeg' } };
test('a picture is embedded without being read, unless its text is requested', async () => {
  const { prepared, called } = await prepare({ file: fileOf(PICTURE) });
  expect([called('embedImages').map(([space, pictures]) => [space, pictures]), called('read')]).toEqual([
    [['pictures', [BYTES]]],
    [],
  ]);
  expect(prepared).toMatchObject({ space: PICTURE_SPACE, vectors: [new Float32Array(1)] });
  expect(prepared.finished).toMatchObject({
    ...{ model: 'VERTEX_MULTIMODAL', content: { hasText: false, numChunks: 1, vectorSpace: 'pictures' } },
  });
  expect([called('usage'), called('close')]).toEqual([[[1, 'pictures', { computed: 1 }]], [[]]]);
  const recognized = await prepare({ file: fileOf(PICTURE, { useOcr: true }) });
  expect([recognized.end, recognized.called('embedImages')]).toMatchObject([{ step: 'recognize', pages: [1] }, []]);
  const large = { ...PICTURE, original: { ...ORIGINAL, size: 20_000_001 } };
  expect((await prepare({ file: fileOf(large) })).end).toMatchObject({ kind: 'too_large' });
});

test('a recording waits for its transcript, which is then read instead of the content', async () => {
  const file = fileOf({ ...UPLOAD, source: 'MP3', statistics: { fileFormat: 'MP3', mimeType: 'audio/mpeg' } });
  expect((await prepare({ file })).end).toMatchObject({ step: 'transcribe' });
  const transcript = { service: 'deepgram', options: { detectLanguage: false, speakers: false }, segments: [] };
  const { called, of } = await prepare({ file, transcript });
  expect(called('read')).toMatchObject([[{ recording: { format: 'MP3', mimeType: 'audio/mpeg', transcript } }, {}]]);
  expect(of('originals.open')).toEqual([]);
  // The options of the file have changed since.
  const other = await prepare({
    file: { ...file, options: { ...file.options, includeSpeakerLabels: true } },
    transcript,
  });
  expect(other.end).toMatchObject({ step: 'transcribe' });
});

/** Answers of a store with chunks that a caller uploaded. */
const chunksOf = (vectors: readonly string[] | null): Answers => ({
  'originals.stream': [Buffer.from(JSON.stringify({ texts: ['one', 'three'], vectors }))],
});
const base64 = (...numbers: number[]): string => Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
test('chunks of the caller stay as they are, with the vectors of the caller or computed ones', async () => {
  const file = fileOf({ callerChunks: { id: 'c' }, hasContent: false });
  const given = await prepare({ file, answers: chunksOf([base64(1, 2), base64(3, 4)]) });
  expect(given.prepared).toMatchObject({
    vectors: [Float32Array.of(1, 2), Float32Array.of(3, 4)],
    space: { name: 'given-openai-2', dimensions: 2 },
    document: {
      ...{ text: 'one\n\nthree', numTokens: 8 },
      cuts: [
        { start: 0, end: 3, tokens: 3 },
        { start: 5, end: 10, tokens: 5 },
      ],
    },
  });
  expect([given.called('embed'), given.called('admit'), given.prepared.content]).toEqual([[], [[10]], null]);
  const computed = await prepare({ file, answers: chunksOf(null) });
  expect([computed.called('embed'), computed.prepared.space]).toEqual([
    [['space', ['one', 'three'], 'document']],
    SPACE,
  ]);
  const chunksOnly = fileOf({ callerChunks: { id: 'c' } }, { generateChunksOnly: true });
  const bytes = { 'contents.get': BYTES };
  const unembedded = await prepare({ file: chunksOnly, answers: { ...chunksOf([base64(1)]), ...bytes } });
  // The stored content is copied to the new generation.
  expect(unembedded.of('contents.get')).toEqual([[{ organizationId: 1, fileId: 3, generation: 1 }]]);
  expect(unembedded.prepared).toMatchObject({ space: null, vectors: [], content: { generation: 2, bytes: BYTES } });
  expect(unembedded.prepared.finished.content).toMatchObject({ hasContent: true, rawHash: null, numChunks: 2 });
  expect((await prepare({ file, answers: { 'originals.stream': null } })).end).toMatchObject({ kind: 'gone' });
});
