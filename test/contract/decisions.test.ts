/** Expected results of tables and pure functions of contract/, mostly of modules without their own suite. */
import { expect, test } from '@jest/globals';

import { DAY_MS, hotMs } from '../../contract/files/coldStorage.js';
import {
  isByChanges,
  isListed,
  isWalked,
  isAccountedFor,
  WALK_ALL,
  walkOf,
} from '../../contract/accounts/connections.js';
import { Fault, type FaultKind, FAULTS } from '../../contract/failures.js';
import { entryFileId } from '../../contract/runs/feeds.js';
import { extensionOf, formatOfName, formatOfType, sourceOfUpload } from '../../contract/files/fileFormats.js';
import { DEFAULT_INGEST_OPTIONS, wantsSparseVectors, wantsVectors } from '../../contract/files/ingestOptions.js';
import { ITEM_CAUSES, REMEDIES } from '../../contract/runs/ledger.js';
import { type CustomLimits, effectiveLimits, LIMIT_NAMES } from '../../contract/limits.js';
import { mediaTypeOf } from '../../contract/files/mediaTypes.js';
import { idOf, idOfPrefix, parseItemId } from '../../contract/objectIds.js';
import { BEING_DELETED, reembedSkipReason, type ReembedCandidate, tokensOf } from '../../contract/runs/reembed.js';
import { truncationMessage } from '../../contract/runs/scrapeSitemap.js';
import { SOURCE_TYPES } from '../../contract/sources/sources.js';
import {
  CONNECTED_SOURCES,
  exportsDocuments,
  idInDrive,
  isConnectedSource,
  isOfAccount,
  sourcesOfConsent,
  sourcesOfFiles,
} from '../../contract/sources/connectedSources.js';
import { stallSentence } from '../../contract/runs/stalls.js';
import { FILE_SYNC_STATUSES, FINAL_FILE_STATUSES } from '../../contract/files/statuses.js';
import { causesOf, isDiskFullError, StoreFailure } from '../../contract/storeFailures.js';
import { fileTags, sameTags, tagObject, tagPairs, upsertTags, withoutTags } from '../../contract/files/tags.js';
import { createTemporalLinks } from '../../contract/runs/temporalLinks.js';
import { temporalNames } from '../../contract/runs/temporalNames.js';
import { isRecording, coversRequest, transcriptionOptionsOf } from '../../contract/files/transcripts.js';
import { mediaTypeHint, nameInUrl } from '../../contract/files/uploads.js';
import { callerSpace, isCallerSpace } from '../../contract/vectors/spaces.js';
import { normaliseUrl, pageUrl, withScheme } from '../../contract/urls.js';
import { failureSentence } from '../../contract/webhooks.js';
import { stateOfWorker, type WorkerReport, workersProblem, workerProblem } from '../../contract/runs/workers.js';
import { everyRow } from '../support/everyRow.js';

/** A call: its description, its result, and the expected result. */
type Row = readonly [what: string, found: unknown, expected: unknown];
const checks = (name: string, rows: readonly Row[]): void =>
  test(name, () =>
    everyRow(
      rows,
      ([what]) => what,
      ([, actual, expected]) => expect(actual).toEqual(expected),
    ),
  );

const RETRYABLE: readonly FaultKind[] = [
  'dns_failed',
  'unreachable',
  'timed_out',
  'server_error',
  'rate_limited',
  'embedding_failed',
  'disk_failed',
];
checks('retries exactly the faults whose cause can pass by itself', [
  ...Object.keys(FAULTS).map((kind): Row => [
    kind,
    new Fault(kind as FaultKind, 'message').retryable,
    (RETRYABLE as readonly string[]).includes(kind),
  ]),
  ['a given wait', new Fault('rate_limited', 'm', { retryAfterMs: 7 }).retryAfterMs, 7],
  ['a wait of zero', new Fault('rate_limited', 'm', { retryAfterMs: 0 }).retryAfterMs, 0],
  ['no given wait', new Fault('rate_limited', 'm').retryAfterMs, null],
]);
checks('has a remedy for each cause that needs one', [
  ['causes without an entry', ITEM_CAUSES.filter((cause) => REMEDIES[cause] === undefined), []],
  [
    'causes that need no remedy',
    ITEM_CAUSES.filter((cause) => REMEDIES[cause] === null),
    ['unchanged', 'already_embedded', 'being_deleted', 'container', 'picture'],
  ],
]);

const limitsOf = (user: CustomLimits, organization: CustomLimits) =>
  LIMIT_NAMES.map((name) => effectiveLimits(user, organization)[name]);
const everyLimit = (value: number): CustomLimits => Object.fromEntries(LIMIT_NAMES.map((name) => [name, value]));
const each = (value: number | null) => LIMIT_NAMES.map(() => value);
checks("prefers the user's own limit to the organization's, also -1 (no limit) and 0", [
  ['none set', limitsOf({}, {}), each(null)],
  ['own', limitsOf(everyLimit(5), {}), each(5)],
  ["the organization's", limitsOf({}, everyLimit(7)), each(7)],
  ['both', limitsOf(everyLimit(5), everyLimit(7)), each(5)],
  ['own is larger', limitsOf(everyLimit(9), everyLimit(7)), each(9)],
  ['own has no limit', limitsOf(everyLimit(-1), everyLimit(7)), each(null)],
  ["only the organization's has no limit", limitsOf(everyLimit(5), everyLimit(-1)), each(5)],
  ['own allows nothing', limitsOf(everyLimit(0), everyLimit(7)), each(0)],
  ["the organization's allows nothing", limitsOf({}, everyLimit(0)), each(0)],
  ...LIMIT_NAMES.map((name): Row => [
    `${name} alone`,
    limitsOf({ [name]: 3 }, {}),
    LIMIT_NAMES.map((other) => (other === name ? 3 : null)),
  ]),
]);

const a = { key: 'a', value: 1 };
const b = { key: 'b', value: 2 };
const newA = { key: 'a', value: 'new' };
checks('prefers own tags of a file to those of its source, and encodes each value as key=value with an escaped key', [
  ['appended', upsertTags([a], [b]), [a, b]],
  ['replaced in place', upsertTags([a, b], [newA]), [newA, b]],
  ['of a file', fileTags({ sourceTags: [a, b], tags: [newA] }), [newA, b]],
  ['of a file without a source', fileTags({ tags: [a] }), [a]],
  ['removed', withoutTags([a, b], ['a', 'c']), [b]],
  ['all removed', withoutTags([a, b], 'all'), []],
  ['equal', sameTags([a, b], [{ ...a }, { ...b }]), true],
  ['another order', sameTags([a, b], [b, a]), false],
  ['another value', sameTags([a], [newA]), false],
  ['1 is not "1"', sameTags([a], [{ key: 'a', value: '1' }]), false],
  ['one more', sameTags([a], [a, b]), false],
  ['an object', tagObject([a, b]), { a: 1, b: 2 }],
  ['pairs', tagPairs([a, { key: 'c', value: ['x', 'y'] }]), ['a=1', 'c=x', 'c=y']],
  ['a key with =', tagPairs([{ key: 'a=b', value: 'c' }]), ['a%3Db=c']],
  ['a value with =', tagPairs([{ key: 'a', value: 'b=c' }]), ['a=b=c']],
  ['a key that looks escaped', tagPairs([{ key: 'a%3Db', value: 'c' }]), ['a%253Db=c']],
  ['an empty list', tagPairs([{ key: 'a', value: [] }]), []],
]);

checks('keeps vectors in hot storage for the days that their file sets, 30 by default', [
  ['default', hotMs(null), 30 * DAY_MS],
  ['own', hotMs(2), 2 * DAY_MS],
  ['none', hotMs(0), 0],
  ['more than the maximum', hotMs(1e9), 36_500 * DAY_MS],
  ['a day in milliseconds', DAY_MS, 86_400_000],
]);

const walk = walkOf([]);
const request = { walk, listed: 0 };
checks('finishes a listing when neither items nor changes are left', [
  ['each item once', walkOf(['x', 'y', 'x']).open, ['x', 'y']],
  ['nothing open', isWalked(walk), true],
  ['an item open', isWalked(walkOf(['x'])), false],
  ['outermost items unknown', isWalked(WALK_ALL), false],
  ['every container listed', isAccountedFor({ ...walk, refused: 0 }), true],
  ['an unlistable container that is not a stored item', isAccountedFor({ ...walk, refused: 1 }), false],
  ['two unlistable containers, both stored items', isAccountedFor({ ...walk, refused: 2, closed: 2 }), true],
  ['two unlistable containers, one of them a stored item', isAccountedFor({ ...walk, refused: 2, closed: 1 }), false],
  ['a full listing', isByChanges(request), false],
  ['by changes, with changes left to read', isByChanges({ ...request, changeToken: 'p' }), true],
  ['by changes, all of them read', isByChanges({ ...request, changeToken: null }), true],
  ['a full listing, nothing is left', isListed(request), true],
  ['changes are left', isListed({ ...request, changeToken: 'p' }), false],
  ['items are left', isListed({ ...request, walk: WALK_ALL, changeToken: null }), false],
  ['by changes, nothing is left', isListed({ ...request, changeToken: null }), true],
]);

const FEED = 'https://site.example/feed';
checks("uses an entry's own id if it is globally unique", [
  ['an address', entryFileId(FEED, 'https://site.example/1'), 'https://site.example/1'],
  ['http', entryFileId(FEED, 'HTTP://site.example/1'), 'HTTP://site.example/1'],
  ['a urn', entryFileId(FEED, 'urn:uuid:1'), 'urn:uuid:1'],
  ['a tag', entryFileId(FEED, 'tag:site.example,2024:1'), 'tag:site.example,2024:1'],
  ['a number', entryFileId(FEED, '1'), `${FEED}#1`],
  ['its feed', entryFileId(FEED, FEED), `${FEED}#${FEED}`],
  ['a word with a colon', entryFileId(FEED, 'post:1'), `${FEED}#post:1`],
]);

checks('finds formats by name and by declared type', [
  ['an extension', extensionOf('a.b.PDF'), 'pdf'],
  ['a URL', extensionOf('https://x.example/a.pdf?b=c.txt#d.e'), 'pdf'],
  ['a name with marks of URLs', extensionOf('Notes #1? C#/a?.md'), 'md'],
  ['no extension', extensionOf('README'), ''],
  ['a short extension', extensionOf('a.C'), 'c'],
  ['a long extension', extensionOf('a.abcdefghij'), 'abcdefghij'],
  ['too long an extension', extensionOf('a.abcdefghijk'), ''],
  ['jpeg', formatOfName('a.JPEG'), 'JPG'],
  ['unknown', formatOfName('a.xyz'), null],
  ['a type', formatOfType('application/PDF'), 'PDF'],
  ['a type with parameters', formatOfType('text/csv; charset=utf-8'), 'CSV'],
  ['no type', formatOfType(null), null],
  ['an unknown type', formatOfType('application/x-unknown'), null],
  ['a type of two formats, of which the first counts', formatOfType('video/mpeg'), 'MPEG'],
  ['a source by its name', sourceOfUpload('JPG', 'a.jpeg'), 'JPEG'],
  ['a source by its format', sourceOfUpload('JPG', 'a.png'), 'JPG'],
  ['text', sourceOfUpload('TXT', 'README'), 'TEXT'],
]);

const ingest = (changes: Partial<typeof DEFAULT_INGEST_OPTIONS>) => ({ ...DEFAULT_INGEST_OPTIONS, ...changes });
const SPARSE = { generateSparseVectors: true } as const;
checks('generates vectors unless an option prevents it, and sparse ones only with dense ones', [
  ['by default', wantsVectors(ingest({})), true],
  ['skipped', wantsVectors(ingest({ skipEmbeddingGeneration: true })), false],
  ['chunks only', wantsVectors(ingest({ generateChunksOnly: true })), false],
  ['the file only', wantsVectors(ingest({ storeFileOnly: true })), false],
  ['no sparse ones by default', wantsSparseVectors(ingest({})), false],
  ['sparse ones', wantsSparseVectors(ingest(SPARSE)), true],
  ['without dense ones', wantsSparseVectors(ingest({ ...SPARSE, skipEmbeddingGeneration: true })), false],
  [
    'sparse ones if only the record of the file is stored',
    wantsSparseVectors(ingest({ ...SPARSE, skipFileProcessing: true })),
    false,
  ],
  [
    'the other defaults',
    DEFAULT_INGEST_OPTIONS,
    {
      chunkSize: 1500,
      chunkOverlap: 20,
      embeddingModel: 'OPENAI',
      skipEmbeddingGeneration: false,
      generateChunksOnly: false,
      storeFileOnly: false,
      generateSparseVectors: false,
      prependFilenameToChunks: false,
      setPageAsBoundary: false,
      maxItemsPerChunk: null,
      skipFileProcessing: false,
    },
  ],
]);

checks('takes the media type of a vector from its file, and TEXT for OCR of a picture', [
  ['text', mediaTypeOf('PDF', true), 'TEXT'],
  ['a picture', mediaTypeOf('PNG', false), 'IMAGE'],
  ['a picture with text', mediaTypeOf('PNG', true), 'TEXT'],
  ['sound', mediaTypeOf('MP3', true), 'AUDIO'],
  ['video', mediaTypeOf('MP4', true), 'VIDEO'],
  ['a page', mediaTypeOf(null, true), 'TEXT'],
  ['no format', mediaTypeOf('unknown', false), 'TEXT'],
]);

checks('converts object ids to places and back', [
  ...(
    [
      ['bucket', { bucket: 'bucket', key: '', kind: 'bucket' }],
      ['bucket/a/b', { bucket: 'bucket', key: 'a/b', kind: 'object' }],
      ['bucket/a/', { bucket: 'bucket', key: 'a/', kind: 'folder' }],
      ['/bucket/a', { bucket: 'bucket', key: 'a', kind: 'prefix' }],
      ['/bucket/a/b', { bucket: 'bucket', key: 'a/b', kind: 'prefix' }],
    ] as const
  ).map(([id, place]): Row => [id, parseItemId(id), place]),
  ['the id of a bucket', idOf('bucket', ''), 'bucket'],
  ['the id of an object', idOf('bucket', 'a/b'), 'bucket/a/b'],
  ['the id of a prefix', idOfPrefix('bucket', 'a'), '/bucket/a'],
  ['a folder instead of a prefix', idOfPrefix('bucket', 'a/'), 'bucket/a/'],
  ['no prefix is the bucket', idOfPrefix('bucket', ''), 'bucket'],
]);

const candidate: ReembedCandidate = {
  _id: 1,
  isContainer: false,
  syncStatus: 'READY',
  syncErrorMessage: null,
  embeddingStorageStatus: 'HOT_STORAGE',
  vectorSpace: 'old',
  numChunks: 3,
  hasText: true,
  options: { embeddingModel: 'OPENAI', chunkOverlap: 20 },
  statistics: { numTokens: 100 },
};
const target = { model: 'OPENAI', space: 'new' } as const;
const reasonToKeep = (changes: Partial<ReembedCandidate>, to: typeof target | null = target) =>
  reembedSkipReason({ ...candidate, ...changes }, to);
checks('keeps the vectors of a file for the first reason that applies', [
  ['none', reasonToKeep({}), null],
  [
    'another model',
    reasonToKeep({ vectorSpace: 'new', options: { embeddingModel: 'SOLAR_1_MINI', chunkOverlap: 0 } }),
    null,
  ],
  ['already embedded', reasonToKeep({ vectorSpace: 'new' }), 'already_embedded'],
  ['already embedded, but rebuilt', reasonToKeep({ vectorSpace: 'new' }, null), null],
  ['a container', reasonToKeep({ isContainer: true, numChunks: 0 }), 'container'],
  ['being deleted', reasonToKeep({ syncErrorMessage: BEING_DELETED, syncStatus: 'SYNCING' }), 'being_deleted'],
  ...FILE_SYNC_STATUSES.map((syncStatus): Row => [
    syncStatus,
    reasonToKeep({ syncStatus }),
    ['READY', 'SYNC_ERROR', 'SYNC_ABORTED', 'READY_TO_SYNC'].includes(syncStatus) ? null : 'syncing',
  ]),
  ...(['HOT_TO_COLD', 'COLD_STORAGE', 'COLD_TO_HOT'] as const).map((embeddingStorageStatus): Row => [
    embeddingStorageStatus,
    reasonToKeep({ embeddingStorageStatus, numChunks: 0 }),
    'cold_storage',
  ]),
  ['no space', reasonToKeep({ vectorSpace: null }), 'no_vectors'],
  ['no chunks', reasonToKeep({ numChunks: 0 }), 'no_vectors'],
  ['given by the caller', reasonToKeep({ vectorSpace: 'given-openai-3' }), 'given_vectors'],
  ['given by the caller, but rebuilt', reasonToKeep({ vectorSpace: 'given-openai-3' }, null), null],
  ['a picture', reasonToKeep({ hasText: false }), 'picture'],
  ['a picture, but rebuilt', reasonToKeep({ hasText: false }, null), null],
  ['tokens', tokensOf(candidate), 140],
  ['tokens of one chunk', tokensOf({ ...candidate, numChunks: 1 }), 100],
  ['tokens of none', tokensOf({ ...candidate, numChunks: 0, statistics: null }), 0],
  ['final statuses', FINAL_FILE_STATUSES, ['READY', 'SYNC_ERROR', 'SYNC_ABORTED', 'READY_TO_SYNC']],
]);

checks('formats messages about truncated lists, stalled runs and failed deliveries', [
  ['a complete list', truncationMessage({} as never), null],
  ['a cut list', truncationMessage({ cutAt: 0 } as never)?.slice(0, 14), '0 pages of a l'],
  ['one stalled run', stallSentence({ runs: 1, cause: 'step_fails' }).slice(0, 16), '1 run is stalled'],
  ['stalled runs', stallSentence({ runs: 2, cause: 'qdrant_down' }).slice(0, 19), '2 runs are stalled:'],
  [
    'a delivery that failed once, without another attempt',
    failureSentence({ event: 'E', tries: 1, error: 'No.', nextTryAt: null }),
    'E failed once: No.',
  ],
  [
    'a delivery with another attempt',
    failureSentence({ event: 'E', tries: 2, error: 'No.', nextTryAt: new Date(0) }),
    'E failed 2 times: No. Next attempt: 1970-01-01T00:00:00.000Z.',
  ],
]);

const MICROSOFT = ['ONEDRIVE', 'SHAREPOINT', 'OUTLOOK'];
const GOOGLE = ['GOOGLE_DRIVE', 'GMAIL', 'GOOGLE_CLOUD_STORAGE'];
const connected = Object.keys(CONNECTED_SOURCES) as (keyof typeof CONNECTED_SOURCES)[];
checks("finds the sources of one consent, the sources of an account's files, and the id of an item in its drive", [
  ...connected.map((source): Row => {
    const family = [MICROSOFT, GOOGLE].find((sources) => sources.includes(source)) ?? [source];
    return [`consent for ${source}`, sourcesOfConsent(source).toSorted(), family.toSorted()];
  }),
  ['files of Notion', sourcesOfFiles('NOTION'), ['NOTION', 'NOTION_DATABASE']],
  ['files of Box', sourcesOfFiles('BOX'), ['BOX']],
  ['files of a page', sourcesOfFiles('WEB_SCRAPE'), ['WEB_SCRAPE']],
  [
    'of an account but not connected',
    SOURCE_TYPES.filter((type) => isOfAccount(type) && !isConnectedSource(type)),
    ['NOTION_DATABASE'],
  ],
  ['connected', SOURCE_TYPES.filter(isConnectedSource).toSorted(), connected.toSorted()],
  ['without an account', (['WEB_SCRAPE', 'RSS_FEED', 'PDF'] as const).map(isOfAccount), [false, false, false]],
  ['exports documents', connected.filter(exportsDocuments), ['GOOGLE_DRIVE']],
  ['in a drive', idInDrive('ONEDRIVE', { id: 'i', root_id: 'd' }), 'd/i'],
  ['the drive itself', idInDrive('ONEDRIVE', { id: 'd', root_id: 'd' }), 'd'],
  ['already with its drive', idInDrive('SHAREPOINT', { id: 'd/i', root_id: 'd' }), 'd/i'],
  ['of a drive with a common prefix', idInDrive('SHAREPOINT', { id: 'd2/i', root_id: 'd' }), 'd/d2/i'],
  ['a source without drives', idInDrive('BOX', { id: 'i', root_id: 'd' }), 'i'],
]);

const chain = (depth: number): Error =>
  depth === 0 ? new Error('ENOSPC: no space left on device') : new Error(`level ${depth}`, { cause: chain(depth - 1) });
checks('names the causes of a store failure, and finds a full disk among them', [
  ['five levels', [...causesOf(chain(9))].length, 5],
  ['full, four causes deep', isDiskFullError(chain(4)), true],
  ['full, five causes deep', isDiskFullError(chain(5)), false],
  ...['EDQUOT', 'Disk quota exceeded', 'out of disk space', 'The disk is full'].map((message): Row => [
    message,
    isDiskFullError(new Error(message)),
    true,
  ]),
  ['another failure', isDiskFullError(new Error('ECONNREFUSED')), false],
  ['no error', isDiskFullError(null), false],
  [
    'each message once',
    new StoreFailure('MongoDB', 'full', new Error('a', { cause: new Error('a', { cause: new Error('b') }) })).message,
    'MongoDB has no disk space left: a: b',
  ],
  [
    'its fields',
    { ...new StoreFailure('MongoDB', 'full', null) },
    { name: 'StoreFailure', store: 'MongoDB', kind: 'full' },
  ],
  ['no message', new StoreFailure('Qdrant', 'unreachable', 'text').message, 'Qdrant does not answer: text'],
]);

const names = temporalNames('deployment', 'queue');
const links = (uiUrl: string | null) => createTemporalLinks({ uiUrl, namespace: 'a b' }, names);
checks('builds names and links of a deployment in Temporal', [
  ['an id', names.idOf('upload:1'), 'deployment:upload:1'],
  ['its key', names.keyOf('deployment:upload:1'), 'upload:1'],
  ['of another deployment', names.keyOf('deployment2:upload:1'), null],
  ['the queue', names.taskQueue, 'queue-deployment'],
  ['no Web UI', links(null).workflow('k'), null],
  ['no address', links('javascript:alert(1)').workflow('k'), null],
  [
    'a workflow',
    links('https://ui.example//').workflow('upload:1'),
    'https://ui.example/namespaces/a%20b/workflows/deployment%3Aupload%3A1',
  ],
  ['no workflow', links('https://ui.example').workflow(null), null],
  [
    'a schedule',
    links('http://ui.example').schedule('auto-sync:1'),
    'http://ui.example/namespaces/a%20b/schedules/deployment%3Aauto-sync%3A1',
  ],
  [
    'an organization',
    decodeURIComponent(links('http://ui.example').organization(7) ?? ''),
    'http://ui.example/namespaces/a b/workflows?query=OrganizationId="7" AND TaskQueue="queue-deployment"',
  ],
  ['fields', links(null).workflowLink('k'), { workflow_id: 'deployment:k', workflow_url: null }],
  ['no fields', links('http://ui.example').workflowLink(undefined), { workflow_id: null, workflow_url: null }],
]);

const none = { detectLanguage: false, speakers: false };
const allOptions = { detectLanguage: true, speakers: true };
checks('reuses a transcript for a request that needs no more than the transcript has', [
  ['sound', isRecording('MP3'), true],
  ['video', isRecording('MP4'), true],
  ['a picture', isRecording('PNG'), false],
  ['nothing', isRecording(null), false],
  ['a name of Object', isRecording('toString'), false],
  [
    'options',
    transcriptionOptionsOf({ ...DEFAULT_INGEST_OPTIONS, includeSpeakerLabels: true }),
    { ...none, speakers: true },
  ],
  ['the same', coversRequest({ service: 'deepgram', options: none }, {}), true],
  ['less', coversRequest({ service: 'deepgram', options: allOptions }, {}), true],
  ['speakers', coversRequest({ service: 'deepgram', options: none }, { includeSpeakerLabels: true }), false],
  ['the language', coversRequest({ service: 'deepgram', options: none }, { detectAudioLanguage: true }), false],
  [
    'another service',
    coversRequest({ service: 'deepgram', options: allOptions }, { transcriptionService: 'assemblyai' }),
    false,
  ],
  ['any service', coversRequest({ service: 'assemblyai', options: none }, { transcriptionService: null }), true],
]);

checks('names the space of vectors that callers give, and reads names and types of uploads', [
  ['a space', callerSpace('OPENAI_ADA', 3), { name: 'given-openai-ada-3', dimensions: 3 }],
  ['is given', isCallerSpace('given-openai-ada-3'), true],
  ['is not', isCallerSpace('openai-given-3'), false],
  ...['image/png', 'audio/mpeg', 'VIDEO/mp2t', 'font/woff'].map((type): Row => [type, mediaTypeHint(type), null]),
  ['text', mediaTypeHint('text/plain'), 'text/plain'],
  ['no type', mediaTypeHint(null), null],
  ['the last path segment', nameInUrl('https://x.example/a/b%20c.pdf?d'), 'b c.pdf'],
  ['a slash at the end', nameInUrl('https://x.example/a/'), 'a'],
  ['no path segment', nameInUrl('https://x.example/'), 'x.example'],
  ['a path segment that cannot be decoded', nameInUrl('https://x.example/%zz'), '%zz'],
]);

checks('normalises addresses to one spelling', [
  ['host and port', normaliseUrl(' HTTPS://Site.Example:443/A?b=C#d '), 'https://site.example/A?b=C'],
  ['another port', normaliseUrl('http://site.example:443/'), 'http://site.example:443/'],
  ['relative', normaliseUrl('../b', 'http://site.example/a/c'), 'http://site.example/b'],
  ['relative to nothing', normaliseUrl('b'), null],
  ['another scheme', normaliseUrl('ftp://site.example/'), null],
  ['a user', normaliseUrl('http://user@site.example/'), null],
  ['a password', normaliseUrl('http://:password@site.example/'), null],
  ['no scheme', pageUrl('site.example/a'), 'https://site.example/a'],
  ['http is kept', pageUrl('http://site.example/a'), 'http://site.example/a'],
  ['a scheme other than HTTP', withScheme('mailto:x'), 'https://mailto:x'],
  ['spaces', withScheme(' HTTP://x '), 'HTTP://x'],
]);

const worker: WorkerReport = {
  ...{ host: 'host', pid: 1, startedAt: new Date(0), heartbeatAt: new Date(0), ageMs: 0, lagMs: 0 },
  ...{ waitShare: 0.5, waited: 0.1, othersShare: 0.5 },
};
const healthy = { ...worker, othersShare: 0 };
const silent = { ...worker, ageMs: 15_001, pid: 2 };
checks('finds silent workers (no heartbeat for 15 s) and starved ones (waiting while other programs use the machine)', [
  ['starved', stateOfWorker(worker), 'starved'],
  ['silent', stateOfWorker(silent), 'silent'],
  ['not yet silent', stateOfWorker({ ...healthy, ageMs: 15_000 }), 'alive'],
  ['waits less than it runs', stateOfWorker({ ...worker, waitShare: 0.49 }), 'alive'],
  ['waits little', stateOfWorker({ ...worker, waited: 0.09 }), 'alive'],
  ['other programs use less than half', stateOfWorker({ ...worker, othersShare: 0.49 }), 'alive'],
  ...(['waitShare', 'waited', 'othersShare'] as const).map((name): Row => [
    `no ${name}`,
    stateOfWorker({ ...worker, [name]: null }),
    'alive',
  ]),
  ['a healthy worker', workerProblem(healthy), null],
  ['seconds', workerProblem(silent)?.slice(0, 50), 'Worker 2 on host has sent no heartbeat for 15 s: i'],
  ['percent', /50 % of .* 50 % of/.test(workerProblem(worker) ?? ''), true],
  ['no workers', workersProblem([])?.slice(0, 20), 'No worker is running'],
  ['one healthy worker', workersProblem([silent, healthy, worker]), null],
  [
    'a silent and a starved worker: the starved one is reported',
    workersProblem([silent, worker]),
    workerProblem(worker),
  ],
  ['all silent', workersProblem([silent]), workerProblem(silent)],
]);
