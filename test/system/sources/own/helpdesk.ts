import { describe, expect, test } from '@jest/globals';
import pLimit from 'p-limit';

import type { DataSourceRecord, FileRecord } from '../../../../contract/files/records.js';
import type { ConnectedSourceType } from '../../../../contract/sources/connectedSources.js';
import { TYPES_AT_SOURCE } from '../../../../contract/sources/typesAtSource.js';
import type { Listed, TestUser } from '../../../support/client.js';
import { waitFor } from '../../../support/waitFor.js';
import { type Catalogue, eventsOf } from '../../../support/sourceFixtures/catalogue.js';

/** Ids of the items of a helpdesk by type; `attached` has the ids of their attachments, by type of the item. */
export interface HelpdeskContent {
  readonly types: Partial<Readonly<Record<'ARTICLE' | 'TICKET' | 'CONVERSATION', string>>>;
  readonly attached: HelpdeskContent['types'];
}

/** The `reason` in FILES_SKIPPED events of items whose type is not synced. */
const REASON = 'auto_synced_source_types';

/** Maximum number of accounts that are connected concurrently. */
const MAX_CONNECTIONS = 5;

/** Options that select the synced types. */
export interface TypeOptions {
  /** Unset: the option is not sent. */
  readonly types?: readonly string[];
  readonly attachments: boolean;
}
const TYPE_SELECTIONS: readonly (readonly string[] | undefined)[] = [
  ...[undefined, []],
  ...TYPES_AT_SOURCE.map((type) => [type]),
  ...[
    ['TICKET', 'ARTICLE'],
    ['CONVERSATION', 'ARTICLE'],
    ['INCIDENT', 'ATTACHMENT'],
    ['TABLE', 'INCIDENT'],
  ],
];
/** Each type, several, none and unset, each with attachments and without. */
export const ALL_TYPE_OPTIONS: readonly TypeOptions[] = TYPE_SELECTIONS.flatMap((types) =>
  [false, true].map((attachments) => ({ attachments, ...(types === undefined ? {} : { types }) })),
);
/** Options for shorter runs: some types with their attachments. */
export const ONE_TYPE_OPTION: readonly TypeOptions[] = [{ types: ['TICKET', 'INCIDENT'], attachments: true }];
/** As above, and all types without attachments. */
export const SOME_TYPE_OPTIONS: readonly TypeOptions[] = [...ONE_TYPE_OPTION, { attachments: false }];
/** Returns the options in the format of files/sync and of connections. No file is processed. */
export const configOf = ({ types, attachments }: TypeOptions) => ({
  skip_file_processing: true,
  sync_attachments: attachments,
  ...(types === undefined ? {} : { auto_synced_source_types: types }),
});

const only = async (user: TestUser): Promise<DataSourceRecord> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
const filesOf = async (user: TestUser, filters: Record<string, unknown> = {}): Promise<FileRecord[]> =>
  (await user.post<Listed<FileRecord>>('/user_files_v2', { filters, pagination: { limit: 100 } })).body.results;
const namesOf = (files: readonly FileRecord[]): string[] => files.map((file) => file.external_file_id).toSorted();

type Fill = () => HelpdeskContent;

async function connect(
  { service, fixtures }: Catalogue,
  type: ConnectedSourceType,
  name: string,
  body: Record<string, unknown>,
): Promise<TestUser> {
  const user = await service.user(`${type} ${name}`);
  const answer = await fixtures[type].connect(user, { sync_source_items: false, ...body });
  expect(answer).toMatchObject({ status: 200 });
  return user;
}

/** Tests which types a connection syncs. @param fill adds an item of each type, and no others */
export function defineTypeTests(
  catalogue: Catalogue,
  type: ConnectedSourceType,
  fill: Fill,
  optionSets: readonly TypeOptions[] = ALL_TYPE_OPTIONS,
): void {
  test(`${type}: auto_synced_source_types and sync_attachments select the synced types`, async () => {
    const { types, attached } = fill();
    const limit = pLimit(MAX_CONNECTIONS);
    const synced = await Promise.all(
      optionSets.map((options, at) =>
        limit(async () => {
          const user = await connect(catalogue, type, `types ${at}`, { file_sync_config: configOf(options) });
          await waitFor(
            () => only(user),
            ({ files_synced_at: done }) => done !== null,
          );
          const files = await filesOf(user);
          for (const [one, id] of Object.entries(types))
            expect(namesOf(await filesOf(user, { file_types_at_source: [one] }))).toEqual(
              namesOf(files).filter((each) => each === id),
            );
          return { ...options, files: namesOf(files) };
        }),
      ),
    );
    const expected = optionSets.map((options) => {
      const { types: named, attachments } = options;
      const selectedIds = (ids: HelpdeskContent['types']) =>
        Object.entries(ids).flatMap(([one, id]) => (named === undefined || named.includes(one) ? [id] : []));
      return { ...options, files: [...selectedIds(types), ...(attachments ? selectedIds(attached) : [])].toSorted() };
    });
    expect(synced).toEqual(expected);
  });
}

/** Tests the events of a selection of which some items are skipped. */
export function defineSkippedTests(catalogue: Catalogue, type: ConnectedSourceType, fill: Fill): void {
  test(`${type}: selecting a parent of excluded items emits one FILES_SKIPPED; selecting an excluded item emits none`, async () => {
    const { types } = fill();
    const customerId = `${type} of tickets`;
    const user = await connect(catalogue, type, 'of tickets', {
      sync_source_items: true,
      sync_files_on_connection: false,
      file_sync_config: configOf({ types: ['TICKET'], attachments: false }),
    });
    const { id } = await waitFor(
      () => only(user),
      ({ source_items_synced_at: done }) => done !== null,
    );
    const listing = { data_source_id: id, filters: { external_ids: Object.values(types) } };
    const { items } = (
      await user.post<{ items: { external_id: string; root_external_id: string }[] }>(
        '/integrations/items/list',
        listing,
      )
    ).body;
    const rootOf = (externalId: string | undefined) =>
      items.find((item) => item.external_id === externalId)?.root_external_id;
    /** Returns the FILES_SKIPPED events of a selection after its end. */
    const skippedEventsOf = async (ids: readonly unknown[], requestId: string) => {
      const body = { data_source_id: id, ids, request_id: requestId };
      expect((await user.post('/integrations/files/sync', body)).status).toBe(200);
      const events = await waitFor(
        () => eventsOf(catalogue, customerId),
        (emitted) =>
          emitted.some((event) => event.kind === 'ALL_FILES_PROCESSED' && event.info?.['request_id'] === requestId),
      );
      return events.filter(
        (event) =>
          event.kind === 'FILES_SKIPPED' && event.info?.['reason'] === REASON && event.info['request_id'] === requestId,
      );
    };
    expect(await skippedEventsOf([rootOf(types.ARTICLE)], 'articles')).toMatchObject([{ objectId: [] }]);
    expect(await skippedEventsOf([rootOf(types.TICKET)], 'tickets')).toEqual([]);
    expect(await skippedEventsOf([types.ARTICLE], 'one article')).toEqual([]);
    expect(namesOf(await filesOf(user))).toEqual([types.ARTICLE!, types.TICKET!].toSorted());
  });
}

/** Tests a helpdesk source. @param fill adds an item of each type, and no others */
export function defineHelpdeskTests(catalogue: Catalogue, type: ConnectedSourceType, fill: Fill): void {
  describe(`the helpdesk ${type}`, () => {
    defineTypeTests(catalogue, type, fill);
    defineSkippedTests(catalogue, type, fill);

    test('lists items with their attachments and syncs none without a selection (sync_files_on_connection false)', async () => {
      const { types, attached } = fill();
      const user = await connect(catalogue, type, 'listed', {
        sync_source_items: true,
        sync_files_on_connection: false,
      });
      const { id } = await waitFor(
        () => only(user),
        ({ source_items_synced_at: done }) => done !== null,
      );
      const listing = { data_source_id: id, filters: { root_files_only: false }, pagination: { limit: 100 } };
      const { items } = (await user.post<{ items: { external_id: string }[] }>('/integrations/items/list', listing))
        .body;
      const expected = [...Object.values(types), ...Object.values(attached)];
      expect(items.map((item) => item.external_id)).toEqual(expect.arrayContaining(expected));
      expect(await filesOf(user)).toEqual([]);
      // An attachment that is selected by its own id is synced without sync_attachments, and with no type selected.
      const chosen = [attached.TICKET!, types.ARTICLE!];
      const body = { data_source_id: id, ids: chosen, file_sync_config: { auto_synced_source_types: [] } };
      expect((await user.post('/integrations/files/sync', body)).status).toBe(200);
      const files = await waitFor(
        () => filesOf(user),
        (records) => records.length === 2 && records.every((file) => file.sync_status === 'READY'),
      );
      expect(namesOf(files)).toEqual(chosen.toSorted());
    });
  });
}
