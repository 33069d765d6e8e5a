/**
 * Support for the suites of connected sources: one service, a fixture for each source, and customers who connect a
 * source.
 */
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { Connection } from 'mongoose';

import type { EventItem } from '../../../contract/events.js';
import type { DataSourceRecord, FileRecord } from '../../../contract/files/records.js';
import { supportsOption } from '../../../contract/sources/sources.js';
import { CONNECTED_SOURCES, type ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { encodeDocument } from '../../../providers/embeddings/sparse/sparseEncoder.js';
import type { EventRowDoc } from '../../../store/models/events.js';
import { INTENDED } from '../../../store/models/hiddenRows.js';
import type { RunDoc } from '../../../store/models/runs.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import type { Listed, TestUser } from '../client.js';
import { connectMongo } from '../mongo.js';
import { startService, type TestService } from '../service.js';
import { waitFor } from '../waitFor.js';
import { SOURCE_FIXTURES } from './index.js';
import type { SourceFixture, FixtureContent } from './fixture.js';
import { storedPoints } from '../storedPoints.js';

export const SOURCES = Object.keys(SOURCE_FIXTURES) as ConnectedSourceType[];

/** Maximum size of an item's content in bytes. */
export const MAX_BYTES = 300_000;

/** An alias of the service's address. */
export const ALIAS = 'https://ingest.harbour.example';

/** Longest Retry-After, in milliseconds, that a request waits for. With a longer one, the request fails. */
const TIME_LIMIT_MS = 1_000;

/** An item as the API returns it. */
export interface Item {
  readonly id: number;
  readonly external_id: string;
  readonly name: string;
  readonly parent_external_id: string | null;
  readonly root_external_id: string | null;
  readonly is_selectable: boolean;
  readonly is_expandable: boolean;
  readonly item_type: string;
  readonly organization_user_file_to_sync_id: number | null;
}

export interface Catalogue {
  readonly service: TestService;
  /** A connection to the database of the service, open from the first test to the last. */
  readonly database: Connection;
  readonly fixtures: Readonly<Record<ConnectedSourceType, SourceFixture>>;
  /** The log lines of all levels and the responses that the service has written so far. */
  readonly recorded: { readonly log: readonly string[]; readonly answers: readonly string[] };
}

/** Records the headers and bodies of all responses that the tests of a file receive from the service. */
function recordAnswers(answers: string[], isService: (url: string) => boolean): void {
  const real = globalThis.fetch;
  globalThis.fetch = async (...args: Parameters<typeof fetch>) => {
    const answer = await real(...args);
    if (isService(answer.url)) answers.push(JSON.stringify([...answer.headers]), await answer.clone().text());
    return answer;
  };
}

/** Starts the service and the fixtures of a test file; they are available from its first test on. */
export function useCatalogue(): Catalogue {
  const fixtures = {} as Record<ConnectedSourceType, SourceFixture>;
  const recorded = { log: [] as string[], answers: [] as string[] };
  const catalogue = { fixtures, recorded } as {
    service: TestService;
    database: Connection;
    fixtures: typeof fixtures;
    recorded: typeof recorded;
  };
  beforeAll(async () => {
    for (const source of SOURCES) fixtures[source] = await SOURCE_FIXTURES[source]();
    const settings = {
      LOG_LEVEL: 'debug',
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      OAUTH_CLIENTS: SOURCES.filter((source) => CONNECTED_SOURCES[source].auth === 'oauth')
        .map((source) => `${source}=${CLIENT_ID}:${CLIENT_SECRET}`)
        .join(','),
      PUBLIC_URL_ALIASES: ALIAS,
      MAX_UPLOAD_BYTES: String(MAX_BYTES),
      SOURCE_PATIENCE_MS: String(TIME_LIMIT_MS),
      SOURCE_URLS: Object.values(fixtures)
        .map((fixture) => fixture.settings)
        .join(','),
    };
    catalogue.service = await startService(settings, { logTo: { write: (line) => void recorded.log.push(line) } });
    catalogue.database = await connectMongo(catalogue.service.env['MONGODB_URI'] ?? '');
    recordAnswers(recorded.answers, (url) => url.startsWith(catalogue.service.url));
  });
  afterAll(async () => {
    await catalogue.database.close();
    await catalogue.service.close();
    await Promise.all(Object.values(fixtures).map((fixture) => fixture.close()));
  });
  return catalogue;
}

const FINAL = ['READY', 'SYNC_ERROR', 'SYNC_ABORTED', 'READY_TO_SYNC'];
let customers = 0;

/**
 * A customer of the service who connects one source. `resetAndCreateUser` switches to a new customer, and resets the
 * source to its initial contents.
 */
export class Customer {
  user!: TestUser;
  content!: FixtureContent;
  customerId = '';

  readonly type: ConnectedSourceType;
  private readonly catalogue: Catalogue;

  constructor(catalogue: Catalogue, type: ConnectedSourceType) {
    this.catalogue = catalogue;
    this.type = type;
  }

  get service(): TestService {
    return this.catalogue.service;
  }
  get fixture(): SourceFixture {
    return this.catalogue.fixtures[this.type];
  }
  /** External ids of the documents in `content`, each of which becomes a file. */
  get documents(): string[] {
    return [this.content.lighthouse, this.content.keeper, ...this.content.others];
  }

  async resetAndCreateUser(): Promise<void> {
    this.content = this.fixture.reset();
    customers += 1;
    this.customerId = `${this.type} ${customers}`;
    this.user = await this.service.user(this.customerId);
  }

  /** Returns the customer's only data source. */
  async source(): Promise<DataSourceRecord> {
    const { results } = (await this.user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body;
    expect(results).toHaveLength(1);
    return results[0]!;
  }

  /** Waits until the data source meets a condition, and returns it. */
  sourceWhen(holds: (source: DataSourceRecord) => boolean): Promise<DataSourceRecord> {
    return waitFor(() => this.source(), holds);
  }

  /** Waits until the listing of the data source has ended, and returns the data source. */
  listed(): Promise<DataSourceRecord> {
    return this.sourceWhen(({ sync_status: status }) => status === 'READY' || status === 'SYNC_ERROR');
  }

  /** Connects the source. It is listed and synced only if the body requests that. */
  async connect(body: Record<string, unknown> = {}): Promise<DataSourceRecord> {
    const quiet = { sync_source_items: false, sync_files_on_connection: false, ...body };
    expect(await this.fixture.connect(this.user, quiet)).toMatchObject({ status: 200 });
    return this.listed();
  }

  /** Connects and syncs everything. */
  async connectWhole(body: Record<string, unknown> = {}): Promise<DataSourceRecord> {
    const connected = await this.connect({ sync_files_on_connection: true, ...body });
    await this.syncRest();
    return connected;
  }

  async listItems(): Promise<DataSourceRecord> {
    const { id } = await this.source();
    const { status, body } = await this.user.post<DataSourceRecord>('/integrations/items/sync', { data_source_id: id });
    expect({ status, sync_status: body.sync_status }).toEqual({ status: 200, sync_status: 'QUEUED_FOR_SYNCING' });
    return this.listed();
  }

  async syncFiles(ids: readonly string[], options: Record<string, unknown> = {}): Promise<void> {
    const { id } = await this.source();
    const request = { data_source_id: id, ids, ...options };
    const answer = await this.user.post('/integrations/files/sync', request);
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
  }

  /**
   * Syncs all containers if the source does not support sync_files_on_connection. For all other sources, the connection
   * must have synced them.
   */
  async syncRest(options: Record<string, unknown> = {}): Promise<void> {
    if (!supportsOption(this.type, 'sync_files_on_connection')) await this.syncFiles(this.content.containers, options);
  }

  /** Waits until no request to the source is in progress. @throws after five seconds */
  async waitUntilIdle(): Promise<void> {
    await waitFor(
      () => this.fixture.requestsInProgress(),
      (requests) => requests === 0,
      5_000,
    );
  }

  async files(filters: Record<string, unknown> = {}): Promise<FileRecord[]> {
    const request = { filters, pagination: { limit: 1_000 }, order_by: 'name' };
    return (await this.user.post<Listed<FileRecord>>('/user_files_v2', request)).body.results;
  }

  /** Returns the number of accepted file selections so far. */
  selections(): Promise<number> {
    const ofCustomer = { customerId: this.customerId, kind: 'syncSource' } as const;
    return this.catalogue.database.collection<RunDoc>('runs').countDocuments(ofCustomer);
  }

  /** Waits until the runs of all accepted file selections have ended. */
  async selectionsDone(): Promise<void> {
    const open = { customerId: this.customerId, kind: 'syncSource', finishedAt: null } as const;
    await waitFor(
      () => this.catalogue.database.collection<RunDoc>('runs').countDocuments(open),
      (runs) => runs === 0,
    );
  }

  /** Waits until there are exactly `number` files and all have a final status, and returns them. */
  settledFiles(number: number): Promise<FileRecord[]> {
    return waitFor(
      () => this.files(),
      (files) => files.length === number && files.every((file) => FINAL.includes(file.sync_status)),
    );
  }

  /** Waits until a file meets a condition, and returns it. */
  fileWhen(id: number, holds: (file: FileRecord) => boolean): Promise<FileRecord> {
    return waitFor(() => this.user.file(id), holds);
  }

  async items(body: Record<string, unknown> = {}): Promise<{ items: Item[]; count: number }> {
    const { id } = await this.source();
    const answer = await this.user.post<{ items: Item[]; count: number }>('/integrations/items/list', {
      data_source_id: id,
      pagination: { limit: 1_000 },
      // At all depths.
      filters: { root_files_only: false },
      ...body,
    });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  }

  async textOf(externalId: string): Promise<string> {
    const { results } = await this.user.chunks({ external_file_ids: [externalId] });
    return results.map((chunk) => chunk.source_content).join('\n');
  }

  /** Returns the kinds of this customer's events, in order. */
  async eventKinds(): Promise<string[]> {
    return (await eventsOf(this.catalogue, this.customerId)).map(({ kind }) => kind);
  }

  /** Returns the skipped items that have no file, each with the reason. FILES_SKIPPED events list them in `items`. */
  async skippedItems(): Promise<{ id: string; name: string; reason: string }[]> {
    return (await eventsOf(this.catalogue, this.customerId)).flatMap(({ kind, info }) => {
      const { items = [], reason } = (info ?? {}) as { items?: readonly EventItem[]; reason?: string };
      if (kind !== 'FILES_SKIPPED') return [];
      return items.map(({ external_id: id, name }) => ({ id, name, reason: reason ?? '' }));
    });
  }

  /** Returns the number of events that report files which `incremental_sync` skips. */
  async countUnchangedSkips(): Promise<number> {
    const events = await eventsOf(this.catalogue, this.customerId);
    return events.filter(({ info }) => info?.['reason'] === 'incremental_sync').length;
  }

  async countEvents(kind: string): Promise<number> {
    return (await this.eventKinds()).filter((other) => other === kind).length;
  }
}

/** Returns the published events of a customer, in order. */
export async function eventsOf({ database }: Catalogue, customerId: string): Promise<EventRowDoc['events'][number][]> {
  const published: EventRowDoc['events'][number][] = [];
  for await (const { last, events } of database
    .collection<EventRowDoc>('events')
    .find({ 'events.customerId': customerId }))
    if (last !== INTENDED) published.push(...events.filter((event) => event.customerId === customerId));
  return published;
}

/** Expects each chunk of a file to have the sparse vector of its text. */
export async function expectSparse(service: TestService, user: TestUser, fileId: number): Promise<void> {
  const terms = (indices: readonly number[] | undefined) => indices?.toSorted((a, b) => a - b);
  const { results } = await user.chunks({ ids: [fileId] });
  expect(results.length).toBeGreaterThan(0);
  expect((await storedPoints(service, fileId)).map(({ sparse }) => terms(sparse?.indices))).toEqual(
    results.map((chunk) => terms(encodeDocument(chunk.source_content)?.indices)),
  );
}
