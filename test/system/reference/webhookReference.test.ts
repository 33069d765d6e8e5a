import { describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { openApiDocument } from '../../../api/openapi/document.js';
import {
  dataSourceEvent,
  EVENT_KINDS,
  eventBody,
  type EventFile,
  type EventKind,
  fileEvents,
  type NewEvent,
  uploadEvent,
} from '../../../contract/events.js';
import { DEFAULT_INGEST_OPTIONS } from '../../../contract/files/ingestOptions.js';
import { everyRow } from '../../support/everyRow.js';

interface Delivery {
  readonly requestBody: {
    readonly content: {
      readonly 'application/json': { readonly schema: Record<string, unknown>; readonly example: unknown };
    };
  };
}
const { webhooks, components } = openApiDocument() as unknown as {
  readonly webhooks: Readonly<Record<string, { readonly post: Delivery }>>;
  readonly components: { readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>> };
};

const file: EventFile = {
  ...{ _id: 17, organizationId: 1, customerId: 'bob', source: 'WEB_SCRAPE', isContainer: false },
  ...{ requestId: 'r', uploadId: null, lastSync: null, sparseQueuedBy: 4, runId: 4, workflowId: 'w' },
  options: { ...DEFAULT_INGEST_OPTIONS, generateSparseVectors: true },
};
const source = { _id: 3, organizationId: 1, customerId: 'bob' };
const plain = (kind: EventKind, objectId: string | null): NewEvent => ({
  ...{ kind, organizationId: 1, customerId: '', objectId, info: null, workflowId: 'w' },
});

/** Events of each kind that is sent. The service's own functions create them, except the last two. */
const written: readonly NewEvent[] = [
  ...fileEvents.created([file]),
  ...fileEvents.syncing(file),
  ...fileEvents.ready(file),
  ...fileEvents.failed(file, 'The site does not answer.'),
  ...fileEvents.rateLimited(file, 'The site limits requests.'),
  fileEvents.sparseQueued(file),
  ...fileEvents.aborted([file], 'cancelled'),
  ...fileEvents.skipped([file], 'skip_file_processing'),
  fileEvents.notAccepted([{ external_id: 'a', name: 'A' }], 'No format.', source, file),
  ...fileEvents.stored('MOVED_TO_COLD_STORAGE', [file], 'r', 'w'),
  ...fileEvents.stored('MOVED_TO_HOT_STORAGE', [file], 'r', 'w'),
  ...fileEvents.stored('EMBEDDING_STORAGE_MODIFIED', [file], 'r'),
  ...fileEvents.deleted(file),
  ...fileEvents.discovered(file, false),
  ...(['ADD', 'UPDATE', 'CANCEL', 'REVOKE', 'DATA_SOURCE_READY'] as const).map((kind) => dataSourceEvent(kind, source)),
  ...(['ALL_FILES_PROCESSED', 'FILE_SYNC_LIMIT_REACHED'] as const).map((kind) => uploadEvent(kind, file)),
  plain('ORGANIZATION_USER_DELETED', '7'),
  plain('FILE_STATISTICS_AGGREGATED', null),
];

const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, binary: true, uuid: true } });

/** Returns how a delivery violates the document; null if it does not. */
function fault(kind: string, body: string): string | null {
  const { schema } = webhooks[kind]!.post.requestBody.content['application/json'];
  const namedSchema = components.schemas[String(schema['$ref']).split('/').at(-1) ?? ''];
  const { payload } = namedSchema!['properties'] as { readonly payload: { readonly contentSchema: object } };
  const delivery = JSON.parse(body) as { readonly payload: string };
  const check = (bodySchema: object, value: unknown): boolean => ajv.compile({ ...bodySchema, components })(value);
  if (!check(schema, delivery)) return 'the body';
  return check(payload.contentSchema, JSON.parse(delivery.payload)) ? null : delivery.payload;
}

describe('the webhooks of the reference', () => {
  const link = (id?: string | null) => ({ workflow_id: id ?? null, workflow_url: null });

  test('describe every event as the service writes it', () =>
    everyRow(
      written,
      ({ kind }) => kind,
      (event) => expect(fault(event.kind, eventBody({ ...event, at: new Date(0) }, link))).toBeNull(),
    ));

  test('are all tested here, except CHECKUP, which is never sent', () => {
    const kinds = new Set([...written.map(({ kind }) => kind), 'CHECKUP']);
    expect([...kinds].toSorted()).toEqual(Object.keys(EVENT_KINDS).toSorted());
  });

  test('have an example that follows their description', () =>
    everyRow(
      Object.entries(webhooks),
      ([kind]) => kind,
      ([kind, { post }]) =>
        expect(fault(kind, JSON.stringify(post.requestBody.content['application/json'].example))).toBeNull(),
    ));

  test('do not match the payload of another event', () => {
    const [event] = fileEvents.syncing(file);
    expect(fault('FILE_READY', eventBody({ ...event!, at: new Date(0) }, link))).toContain('FILE_SYNCING');
  });
});
