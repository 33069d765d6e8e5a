/** What the suites of connected sources share: one service, every source's stand on it, and one customer's view of a source. */
import { afterAll, beforeAll, expect } from '@jest/globals';

import type { EventItem } from '../../../contract/events.js';
import type { DataSourceRecord, FileRecord } from '../../../contract/records.js';
import { CONNECTED_SOURCES, type ConnectedSourceType, honours } from '../../../contract/sources.js';
import { encodeDocument } from '../../../providers/embeddings/sparse/sparseEncoder.js';
import { type EventRowDoc, INTENDED } from '../../../store/events/model.js';
import type { RunDoc } from '../../../store/runs/model.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import type { Listed, TestUser } from '../client.js';
import { withDatabase } from '../dataSources.js';
import { startService, type TestService } from '../service.js';
import { waitFor } from '../waitFor.js';
import { SOURCE_STANDS } from './index.js';
import type { SourceStand, StandContent } from './stand.js';
import { storedPoints } from '../storedPoints.js';

export const SOURCES = Object.keys(SOURCE_STANDS) as ConnectedSourceType[];

/** Of an item's content at most. */
export const MAX_BYTES = 300_000;

/** Another address of the service. */
export const ALIAS = 'https://ingest.harbour.example';

/** So long a request waits by itself where a source asks for that. */
const PATIENCE_MS = 1_000;

/** An item as it is answered. */
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
  readonly stands: Readonly<Record<ConnectedSourceType, SourceStand>>;
  /** What the service has said so far: lines of its log, down to the least, and its answers. */
  readonly said: { readonly log: readonly string[]; readonly answers: readonly string[] };
}

/** Keeps what a service answers to the tests of a file. */
function hear(answers: string[], isService: (url: string) => boolean): void {
  const real = globalThis.fetch;
  globalThis.fetch = async (...given: Parameters<typeof fetch>) => {
    const answer = await real(...given);
    if (isService(answer.url)) answers.push(JSON.stringify([...answer.headers]), await answer.clone().text());
    return answer;
  };
}

/** The service and the stands of a test file; there from its first test on. */
export function useCatalogue(): Catalogue {
  const stands = {} as Record<ConnectedSourceType, SourceStand>;
  const said = { log: [] as string[], answers: [] as string[] };
  const catalogue = { stands, said } as { service: TestService; stands: typeof stands; said: typeof said };
  beforeAll(async () => {
    for (const source of SOURCES) stands[source] = await SOURCE_STANDS[source]();
    const settings = {
      LOG_LEVEL: 'debug',
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      OAUTH_CLIENTS: SOURCES.filter((source) => CONNECTED_SOURCES[source].auth === 'oauth')
        .map((source) => `${source}=${CLIENT_ID}:${CLIENT_SECRET}`)
        .join(','),
      PUBLIC_URL_ALIASES: ALIAS,
      MAX_UPLOAD_BYTES: String(MAX_BYTES),
      SOURCE_PATIENCE_MS: String(PATIENCE_MS),
      SOURCE_URLS: Object.values(stands)
        .map((stand) => stand.settings)
        .join(','),
    };
    catalogue.service = await startService(settings, { logTo: { write: (line) => void said.log.push(line) } });
    hear(said.answers, (url) => url.startsWith(catalogue.service.url));
  });
  afterAll(async () => {
    await catalogue.service.close();
    await Promise.all(Object.values(stands).map((stand) => stand.close()));
  });
  return catalogue;
}

const FINAL = ['READY', 'SYNC_ERROR', 'SYNC_ABORTED', 'READY_TO_SYNC'];
let customers = 0;

/** A customer of the service who connects one source. `begin` makes it another customer, before a source as new. */
export class Customer {
  user!: TestUser;
  content!: StandContent;
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
  get stand(): SourceStand {
    return this.catalogue.stands[this.type];
  }
  /** All files that become of the content of the catalogue. */
  get documents(): string[] {
    return [this.content.lighthouse, this.content.keeper, ...this.content.others];
  }

  async begin(): Promise<void> {
    this.content = this.stand.reset();
    customers += 1;
    this.customerId = `${this.type} ${customers}`;
    this.user = await this.service.user(this.customerId);
  }

  /** The only data source. */
  async source(): Promise<DataSourceRecord> {
    const { results } = (await this.user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body;
    expect(results).toHaveLength(1);
    return results[0]!;
  }

  /** The data source as soon as something holds of it. */
  sourceWhen(holds: (source: DataSourceRecord) => boolean): Promise<DataSourceRecord> {
    return waitFor(() => this.source(), holds);
  }

  /** The data source once no listing of it is under way. */
  listed(): Promise<DataSourceRecord> {
    return this.sourceWhen(({ sync_status: status }) => status === 'READY' || status === 'SYNC_ERROR');
  }

  /** Connects with nothing done yet but what the body asks for. */
  async connect(body: Record<string, unknown> = {}): Promise<DataSourceRecord> {
    const quiet = { sync_source_items: false, sync_files_on_connection: false, ...body };
    expect(await this.stand.connect(this.user, quiet)).toMatchObject({ status: 200 });
    return this.listed();
  }

  /** Connects with everything synced. */
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

  async syncFiles(ids: readonly string[], more: Record<string, unknown> = {}): Promise<void> {
    const { id } = await this.source();
    const request = { data_source_id: id, ids, ...more };
    const answer = await this.user.post('/integrations/files/sync', request);
    expect(answer).toMatchObject({ status: 200, body: { success: true } });
  }

  /** Makes files of all there is, as far as a connection that was asked to has not done so already. */
  async syncRest(more: Record<string, unknown> = {}): Promise<void> {
    if (!honours(this.type, 'sync_files_on_connection')) await this.syncFiles(this.content.containers, more);
  }

  /** Waits until nothing is asked of the source any more: five seconds after a cancellation at most. */
  async idle(): Promise<void> {
    await waitFor(
      () => this.stand.underWay(),
      (requests) => requests === 0,
      5_000,
    );
  }

  async files(filters: Record<string, unknown> = {}): Promise<FileRecord[]> {
    const request = { filters, pagination: { limit: 1_000 }, order_by: 'name' };
    return (await this.user.post<Listed<FileRecord>>('/user_files_v2', request)).body.results;
  }

  /** Selections of files that were accepted so far. */
  selections(): Promise<number> {
    return withDatabase(this.service, async (db) =>
      db.collection<RunDoc>('runs').countDocuments({ customerId: this.customerId, kind: 'syncSource' }),
    );
  }

  /** Waits until each of them has come to its end. */
  async selectionsDone(): Promise<void> {
    const open = { customerId: this.customerId, kind: 'syncSource', finishedAt: null } as const;
    await withDatabase(this.service, (db) =>
      waitFor(
        () => db.collection<RunDoc>('runs').countDocuments(open),
        (runs) => runs === 0,
      ),
    );
  }

  /** All files, once there are so many and each is at rest. */
  settledFiles(number: number): Promise<FileRecord[]> {
    return waitFor(
      () => this.files(),
      (some) => some.length === number && some.every((file) => FINAL.includes(file.sync_status)),
    );
  }

  /** A file as soon as something holds of it. */
  fileWhen(id: number, holds: (file: FileRecord) => boolean): Promise<FileRecord> {
    return waitFor(() => this.user.file(id), holds);
  }

  async items(body: Record<string, unknown> = {}): Promise<{ items: Item[]; count: number }> {
    const { id } = await this.source();
    const answer = await this.user.post<{ items: Item[]; count: number }>('/integrations/items/list', {
      data_source_id: id,
      pagination: { limit: 1_000 },
      // Of all depths.
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

  /** What was told of this customer, in order. */
  async told(): Promise<string[]> {
    return (await eventsOf(this.service, this.customerId)).map(({ kind }) => kind);
  }

  /** Things without a file that FILES_SKIPPED has told of, each with the reason. */
  async leftOut(): Promise<{ id: string; name: string; reason: string }[]> {
    return (await eventsOf(this.service, this.customerId)).flatMap(({ kind, info }) => {
      const { items = [], reason } = (info ?? {}) as { items?: readonly EventItem[]; reason?: string };
      if (kind !== 'FILES_SKIPPED') return [];
      return items.map(({ external_id: id, name }) => ({ id, name, reason: reason ?? '' }));
    });
  }

  /** Files that an incremental sync has left out so far, in lists. */
  async timesLeftOut(): Promise<number> {
    const told = await eventsOf(this.service, this.customerId);
    return told.filter(({ info }) => info?.['reason'] === 'incremental_sync').length;
  }

  async timesTold(kind: string): Promise<number> {
    return (await this.told()).filter((one) => one === kind).length;
  }
}

/** What was told of a customer, in order. */
export async function eventsOf(service: TestService, customerId: string): Promise<EventRowDoc['events'][number][]> {
  const told: EventRowDoc['events'][number][] = [];
  await withDatabase(service, async (connection) => {
    const rows = connection.collection<EventRowDoc>('events').find({ 'events.customerId': customerId });
    for await (const { last, events } of rows)
      if (last !== INTENDED) told.push(...events.filter((event) => event.customerId === customerId));
  });
  return told;
}

/** Each chunk of a file has the sparse vector of its text. */
export async function expectSparse(service: TestService, user: TestUser, fileId: number): Promise<void> {
  const terms = (indices: readonly number[] | undefined) => indices?.toSorted((a, b) => a - b);
  const { results } = await user.chunks({ ids: [fileId] });
  expect(results.length).toBeGreaterThan(0);
  expect((await storedPoints(service, fileId)).map(({ sparse }) => terms(sparse?.indices))).toEqual(
    results.map((chunk) => terms(encodeDocument(chunk.source_content)?.indices)),
  );
}
