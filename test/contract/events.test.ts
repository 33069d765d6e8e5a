import { describe, expect, test } from '@jest/globals';

import {
  EVENT_KINDS,
  eventBody,
  type EventFile,
  fileEvents,
  type NewEvent,
  objectsOf,
  type PublishedEvent,
} from '../../contract/events.js';
import { IS_UPLOAD } from '../../contract/runs/runKinds.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import { everyRow } from '../support/everyRow.js';

const nowhere = () => ({ workflow_id: null, workflow_url: null });
const event: PublishedEvent = {
  kind: 'FILES_CREATED',
  customerId: 'satvik',
  objectId: ['46654'],
  info: null,
  at: new Date(1_721_392_406_000),
};

describe('the bytes of a delivery', () => {
  test("equal those of Carbon's hosted service", () => {
    expect(eventBody(event, nowhere)).toBe(
      '{"payload": "{\\"webhook_type\\": \\"FILES_CREATED\\", \\"obj\\": {\\"object_type\\": \\"FILE_LIST\\", \\"object_id\\": [\\"46654\\"], \\"additional_information\\": \\"null\\"}, \\"customer_id\\": \\"satvik\\", \\"timestamp\\": \\"1721392406\\"}"}',
    );
  });
  test('are ASCII for any customer id, and parse back to the same id', () => {
    const customerId = 'Zoë \u{1f600} "\\" \u007f \u2028';
    const body = eventBody({ ...event, customerId }, nowhere);
    expect(body).toMatch(/^[ -~]+$/);
    const { payload } = JSON.parse(body) as { payload: string };
    expect(payload).toMatch(/^[ -~]+$/);
    expect((JSON.parse(payload) as { customer_id: string }).customer_id).toBe(customerId);
  });
  test('contain values as strings, and a missing request id as null', () => {
    const info = { is_resync: 'False', request_id: null };
    const { payload } = JSON.parse(eventBody({ ...event, kind: 'FILE_READY', objectId: '7', info }, nowhere)) as {
      payload: string;
    };
    expect(payload).toContain(
      '"obj": {"object_type": "FILE", "object_id": "7", "additional_information": {"is_resync": "False", "request_id": null}}',
    );
  });
});

test('defines 25 kinds of events', () => {
  expect(Object.keys(EVENT_KINDS)).toHaveLength(25);
});

test('assigns the events of a page, of its file and of a list that contains the file to the same object', () => {
  expect(objectsOf({ kind: 'WEBPAGE_READY', objectId: '7' })).toEqual(['FILE:7']);
  expect(objectsOf({ kind: 'FILE_READY', objectId: '7' })).toEqual(['FILE:7']);
  expect(objectsOf({ kind: 'FILES_CREATED', objectId: ['6', '7'] })).toEqual(['FILE:6', 'FILE:7']);
  expect(objectsOf({ kind: 'ORGANIZATION_USER_DELETED', objectId: '7' })).toEqual(['ORGANIZATION_USER:7']);
});

const file: EventFile = {
  _id: 7,
  organizationId: 1,
  customerId: 'ada',
  source: 'PDF',
  isContainer: false,
  requestId: 'request',
  uploadId: 'upload',
  lastSync: null,
  sparseQueuedBy: null,
  runId: 5,
  workflowId: 'upload:7',
  options: DEFAULT_INGEST_OPTIONS,
};
const page: EventFile = { ...file, source: 'WEB_SCRAPE' };
const sparse: EventFile = {
  ...file,
  sparseQueuedBy: 5,
  options: { ...DEFAULT_INGEST_OPTIONS, generateSparseVectors: true },
};
const summaryOf = (events: readonly NewEvent[]) => events.map(({ kind, objectId, info }) => [kind, objectId, info]);
const requestInfo = { request_id: 'request' };
const requestIds = { request_id: 'request', upload_id: 'upload' };
const failure = { sync_error_message: 'No.', request_id: 'request' };
const sparseStatus = (status: string) => [
  'SPARSE_VECTOR_QUEUE_STATUS',
  '7',
  { sparse_vector_queue_status: status, request_id: 'request' },
];
const isFirst = { is_resync: 'False', request_id: 'request' };

/** Events of each change of a file, in order. */
const CHANGES: readonly (readonly [what: string, events: readonly NewEvent[], expected: unknown])[] = [
  ['syncing', fileEvents.syncing(file), [['FILE_SYNCING', '7', requestInfo]]],
  ['ready', fileEvents.ready(file), [['FILE_READY', '7', isFirst]]],
  [
    'ready again',
    fileEvents.ready({ ...file, lastSync: new Date(0) }),
    [['FILE_READY', '7', { ...isFirst, is_resync: 'True' }]],
  ],
  [
    'a page is ready',
    fileEvents.ready(page),
    [
      ['FILE_READY', '7', isFirst],
      ['WEBPAGE_READY', '7', isFirst],
    ],
  ],
  ['a sitemap is ready', fileEvents.ready({ ...page, isContainer: true }), [['FILE_READY', '7', isFirst]]],
  ['failed', fileEvents.failed(file, 'No.'), [['FILE_ERROR', '7', failure]]],
  [
    'a page failed',
    fileEvents.failed(page, 'No.'),
    [
      ['FILE_ERROR', '7', failure],
      ['WEBPAGE_ERROR', '7', failure],
    ],
  ],
  [
    'failed, with queued sparse vectors',
    fileEvents.failed(sparse, 'No.'),
    [sparseStatus('failed'), ['FILE_ERROR', '7', failure]],
  ],
  [
    'failed, with sparse vectors queued by another run',
    fileEvents.failed({ ...sparse, sparseQueuedBy: 4 }, 'No.'),
    [['FILE_ERROR', '7', failure]],
  ],
  [
    'failed, without a run',
    fileEvents.failed({ ...sparse, sparseQueuedBy: null, runId: null }, 'No.'),
    [['FILE_ERROR', '7', failure]],
  ],
  [
    'failed, with sparse vectors no longer requested',
    fileEvents.failed({ ...sparse, options: DEFAULT_INGEST_OPTIONS }, 'No.'),
    [['FILE_ERROR', '7', failure]],
  ],
  ['rate limited', fileEvents.rateLimited(file, 'No.'), [['RATE_LIMIT_ERROR', '7', failure]]],
  ['sparse vectors queued', [fileEvents.sparseQueued(file)], [sparseStatus('queued')]],
  [
    'aborted',
    fileEvents.aborted([sparse], 'reason'),
    [sparseStatus('aborted'), ['FILES_SKIPPED', ['7'], { reason: 'reason', ...requestIds }]],
  ],
  ['skipped', fileEvents.skipped([sparse], 'reason'), [['FILES_SKIPPED', ['7'], { reason: 'reason', ...requestIds }]]],
  ['deleted', fileEvents.deleted(file), [['FILE_DELETED', '7', requestInfo]]],
  [
    'excluded',
    fileEvents.skippedOfRequest([file], 'reason', { requestId: 'new', workflowId: 'w' }),
    [['FILES_SKIPPED', ['7'], { reason: 'reason', request_id: 'new', upload_id: null }]],
  ],
  [
    'moved',
    fileEvents.stored('MOVED_TO_COLD_STORAGE', [file], 'new'),
    [['MOVED_TO_COLD_STORAGE', ['7'], { request_id: 'new', upload_id: null }]],
  ],
  [
    'discovered',
    fileEvents.discovered(page, false),
    [
      ['WEBSCRAPE_URLS_READY', '7', requestInfo],
      ['ALL_UPLOADED_FILES_QUEUED', 'request', requestIds],
    ],
  ],
  ['discovered by a sync', fileEvents.discovered(page, true), [['WEBSCRAPE_URLS_READY', '7', requestInfo]]],
];

test('emits the events of each change of a file', () =>
  everyRow(
    CHANGES,
    ([what]) => what,
    ([, events, expected]) => {
      expect(summaryOf(events)).toEqual(expected);
      for (const { organizationId, customerId } of events) expect([organizationId, customerId]).toEqual([1, 'ada']);
    },
  ));

test('groups files of one customer, request and upload into one event', () => {
  const others: readonly Partial<EventFile>[] = [
    { organizationId: 2 },
    { customerId: 'bob' },
    { requestId: 'other' },
    { uploadId: 'other' },
  ];
  const files = [file, ...others.map((change, at) => ({ ...file, ...change, _id: 10 + at })), { ...file, _id: 8 }];
  const events = fileEvents.created(files);
  expect(events.map(({ objectId }) => objectId)).toEqual([['7', '8'], ['10'], ['11'], ['12'], ['13']]);
  expect(events[0]).toMatchObject({ kind: 'FILES_CREATED', info: requestIds, workflowId: 'upload:7' });
  // A list of files with different workflows has no workflow id.
  expect(fileEvents.created([file, { ...file, workflowId: 'upload:8' }])).toMatchObject([{ workflowId: null }]);
});

test('IS_UPLOAD, which decides about ALL_FILES_PROCESSED, is true exactly for runs that ingest files of one request', () => {
  const reporting = Object.entries(IS_UPLOAD).flatMap(([kind, isUpload]) => (isUpload ? [kind] : []));
  expect(reporting.toSorted()).toEqual(['scrapeSitemap', 'syncFeed', 'syncSource', 'syncUpload', 'webScrape']);
});
