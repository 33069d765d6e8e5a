/** Tests that a feed or file is skipped only if all inputs that affect its result are unchanged. */
import { asyncLocalStorage } from '@temporalio/activity';
import { expect, jest, test } from '@jest/globals';

import type { ActivityDeps } from '../../activities/deps.js';
import { createFeedActivities } from '../../activities/discover/discoverEntries.js';
import { type Processing, processingFor } from '../../activities/ingest/prepare/processing.js';
import { DEFAULT_INGEST_OPTIONS, type IngestOptions, type PageOptions } from '../../contract/files/ingestOptions.js';
import type { FeedReading } from '../../contract/runs/feeds.js';
import type { FileDoc } from '../../store/models/files.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

/** A value of each option that differs from the default. Add a line for each new option. */
const CHANGED_INGEST: { readonly [K in keyof Required<IngestOptions>]: Required<IngestOptions>[K] } = {
  chunkSize: 700,
  chunkOverlap: 30,
  embeddingModel: 'COHERE_MULTILINGUAL_V3',
  skipEmbeddingGeneration: true,
  generateChunksOnly: true,
  storeFileOnly: true,
  generateSparseVectors: true,
  prependFilenameToChunks: true,
  setPageAsBoundary: true,
  maxItemsPerChunk: 3,
  splitRows: true,
  useOcr: true,
  parsePdfTablesWithOcr: true,
  ocrLanguages: ['deu'],
  detectAudioLanguage: true,
  transcriptionService: 'deepgram',
  includeSpeakerLabels: true,
  syncAttachments: true,
  parsedTextFormat: 'MARKDOWN',
  mediaType: 'TEXT',
  autoSyncedSourceTypes: ['PAGE'],
  skipFileProcessing: true,
};
const PAGE: PageOptions = {
  htmlTagsToSkip: [],
  cssClassesToSkip: [],
  cssSelectorsToSkip: [],
  downloadCssAndMedia: false,
  usePremiumProxies: false,
};
const CHANGED_PAGE: PageOptions = {
  htmlTagsToSkip: ['nav'],
  cssClassesToSkip: ['menu'],
  cssSelectorsToSkip: ['#footer'],
  downloadCssAndMedia: true,
  usePremiumProxies: true,
  removeRepeatedBlocks: false,
};
const entriesOf = <T extends object>(values: T) => Object.entries(values) as [keyof T & string, T[keyof T]][];

/** The inputs with which a feed is read. */
interface ReadingInputs {
  readonly feedId: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly ingest: IngestOptions;
  readonly scrape: PageOptions;
  readonly tagsVersion: number | null;
  readonly maxFilesPerUpload: number | null;
  readonly maxPagesPerScrape: number;
}
const BASE_INPUTS: ReadingInputs = {
  ...{ feedId: 'https://a.example/feed', tags: { team: 'docs' }, ingest: DEFAULT_INGEST_OPTIONS, scrape: PAGE },
  ...{ tagsVersion: 1, maxFilesPerUpload: 10, maxPagesPerScrape: 100 },
};
const VALIDATORS = { etag: '"1"', lastModified: null };
const RUN = 7;

/**
 * Reads a feed.
 * @param reading stored result of the previous read; null: the feed is read for the first time
 * @returns the accepted entries, whether the request was conditional, and the result to store
 */
async function readFeed(
  inputs: ReadingInputs,
  reading: FeedReading | null,
  { ready = reading?.entries ?? 0, factory = createFeedActivities, run = {} } = {},
) {
  const parent = { _id: 3, externalFileId: inputs.feedId, feedReading: reading, fileMetadata: {} };
  const { ingest, scrape, tags } = inputs;
  const { stores, of } = recorder({
    'runs.find': {
      ...{ _id: RUN, kind: 'syncFeed', organizationId: 1, userId: 2, customerId: 'c', fileId: 3, dataSourceId: 9 },
      ...{ requestId: 'r', workflowId: 'w', progress: {}, request: { url: inputs.feedId, ingest, scrape, tags } },
      ...run,
    },
    'files.byIds': [parent],
    'files.countRun': { ready },
    'files.acceptMany': 1,
    'limits.get': { max_files_per_upload: inputs.maxFilesPerUpload },
    'dataSources.find': { _id: 9, tagsVersion: inputs.tagsVersion },
  });
  const validators: unknown[] = [];
  const entry = { id: 'a', url: null, title: 'A', publishedAt: null };
  const sources = {
    readFeed: (request: { known: unknown }) => {
      validators.push(request.known);
      return Promise.resolve({ feed: { title: null, validators: VALIDATORS, entries: [entry] }, movedTo: null });
    },
  };
  const deps = { store: stores, sources, settings: { maxPagesPerScrape: inputs.maxPagesPerScrape } };
  const context = { cancellationSignal: new AbortController().signal } as never;
  await asyncLocalStorage.run(context, () => factory(deps as unknown as ActivityDeps).discoverEntries({ runId: RUN }));
  expect(validators).toHaveLength(1);
  const saved = of('runs.saveProgress').map(([, progress]) => progress as { found: { reading: FeedReading } });
  const accepted = of('files.acceptMany').flatMap(([, requests]) => requests as readonly { isScheduled?: boolean }[]);
  return { accepted, isConditional: validators[0] !== null, reading: { ...saved[0]!.found.reading, entries: 1 } };
}

/** Inputs that differ from BASE_INPUTS in one field. */
const CHANGES: readonly (readonly [field: string, changed: Partial<ReadingInputs>])[] = [
  ['feed', { feedId: 'https://a.example/other' }],
  ['tags', { tags: { team: 'sea' } }],
  ['tags of the data source', { tagsVersion: 2 }],
  ['max_files_per_upload', { maxFilesPerUpload: 11 }],
  ['max_files_per_upload removed', { maxFilesPerUpload: null }],
  ['MAX_PAGES_PER_SCRAPE', { maxPagesPerScrape: 101 }],
  ...entriesOf(CHANGED_INGEST).map(
    ([name, value]) => [name, { ingest: { ...BASE_INPUTS.ingest, [name]: value } }] as const,
  ),
  ...entriesOf(CHANGED_PAGE).map(([name, value]) => [name, { scrape: { ...PAGE, [name]: value } }] as const),
];

test('an unchanged feed is skipped only if all inputs of its entries are the same', async () => {
  const { reading, isConditional } = await readFeed(BASE_INPUTS, null);
  expect(isConditional).toBe(false);
  expect((await readFeed(BASE_INPUTS, reading)).isConditional).toBe(true);
  await everyRow(
    CHANGES,
    ([field]) => field,
    async ([, changed]) => expect((await readFeed({ ...BASE_INPUTS, ...changed }, reading)).isConditional).toBe(false),
  );
});

test('entries count as scheduled only in a run that is part of a scheduled sync', async () => {
  expect((await readFeed(BASE_INPUTS, null)).accepted).toEqual([expect.objectContaining({ isScheduled: false })]);
  const scheduled = await readFeed(BASE_INPUTS, null, { run: { parentRunId: 4 } });
  expect(scheduled.accepted).toEqual([expect.objectContaining({ isScheduled: true })]);
});

test('an unchanged feed is read again if the file of one of its entries was changed or deleted', async () => {
  const { reading } = await readFeed(BASE_INPUTS, null);
  expect((await readFeed(BASE_INPUTS, reading, { ready: 0 })).isConditional).toBe(false);
});

/** A file, and the settings with which it is processed. */
interface ProcessingInputs {
  readonly file: Partial<FileDoc>;
  readonly space: string;
  readonly ocr: ActivityDeps['settings']['ocr'];
}
const OCR = { engine: 'wasm' as const, maxPages: 10, pagesAtOnce: 1, languages: ['eng'] };
const BASE_PROCESSING: ProcessingInputs = { file: {}, space: 'space', ocr: OCR };
const FILE = {
  ...{ _id: 3, name: 'a.txt', sourceOptions: PAGE, tagPairs: ['team=docs'], parentId: 1, generation: 1 },
  ...{ processedAs: null, options: DEFAULT_INGEST_OPTIONS },
} as unknown as FileDoc;
const processed = ({ file, space, ocr }: ProcessingInputs, known: string | null = null): Processing => {
  const deps = { embeddings: { spaceOf: () => ({ name: space, dimensions: 3 }) }, settings: { ocr } };
  return processingFor({ ...FILE, ...file, processedAs: known }, null, deps as unknown as ActivityDeps);
};
const withOptions = (options: Partial<IngestOptions>): ProcessingInputs => ({
  ...BASE_PROCESSING,
  file: { options: { ...DEFAULT_INGEST_OPTIONS, ...options } },
});
const WITH_OCR = withOptions({ useOcr: true });
const WITH_FILE_NAME = withOptions({ prependFilenameToChunks: true });

/** Pairs of which only one field differs. */
const PROCESSINGS: readonly (readonly [field: string, before: ProcessingInputs, after: ProcessingInputs])[] = [
  ...entriesOf(CHANGED_INGEST).map(([name, value]) => [name, BASE_PROCESSING, withOptions({ [name]: value })] as const),
  ...entriesOf(CHANGED_PAGE).map(
    ([name, value]) =>
      [name, BASE_PROCESSING, { ...BASE_PROCESSING, file: { sourceOptions: { ...PAGE, [name]: value } } }] as const,
  ),
  ['tags', BASE_PROCESSING, { ...BASE_PROCESSING, file: { tagPairs: ['team=sea'] } }],
  ['parent', BASE_PROCESSING, { ...BASE_PROCESSING, file: { parentId: 2 } }],
  ['vector space', BASE_PROCESSING, { ...BASE_PROCESSING, space: 'other' }],
  [
    'name, if it is part of the chunks',
    WITH_FILE_NAME,
    { ...WITH_FILE_NAME, file: { ...WITH_FILE_NAME.file, name: 'b.txt' } },
  ],
  ['languages of OCR', WITH_OCR, { ...WITH_OCR, ocr: { ...OCR, languages: ['deu'] } }],
  ['languages of the file for OCR', WITH_OCR, withOptions({ useOcr: true, ocrLanguages: ['deu'] })],
  ['engine of OCR', WITH_OCR, { ...WITH_OCR, ocr: { ...OCR, engine: 'native' } }],
  ['tables of OCR', WITH_OCR, withOptions({ useOcr: true, parsePdfTablesWithOcr: true })],
];

test('the stored copy of a file counts as current only if it was processed in the same way', () =>
  everyRow(
    PROCESSINGS,
    ([field]) => field,
    ([, settingsBefore, settingsAfter]) => {
      const known = processed(settingsBefore).processedAs;
      expect(processed(settingsBefore, known).hasSameProcessing).toBe(true);
      expect(processed(settingsAfter, known).hasSameProcessing).toBe(false);
    },
  ));

test('a file that was never ingested has no current copy', () => {
  const { processedAs } = processed(BASE_PROCESSING);
  expect(processed({ ...BASE_PROCESSING, file: { generation: 0 } }, processedAs).hasSameProcessing).toBe(false);
});

test('unchanged feeds are read again by a new version of the processing pipeline', async () => {
  const { reading } = await readFeed(BASE_INPUTS, null);
  jest.resetModules();
  jest.unstable_mockModule('../../activities/ingest/prepare/processing.js', () => ({ PIPELINE_VERSION: 0 }));
  const { createFeedActivities: factory } = await import('../../activities/discover/discoverEntries.js');
  expect((await readFeed(BASE_INPUTS, reading, { factory })).isConditional).toBe(false);
});
