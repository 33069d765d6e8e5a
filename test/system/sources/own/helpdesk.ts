import { describe, expect, test } from '@jest/globals';
import pLimit from 'p-limit';

import type { DataSourceRecord, FileRecord } from '../../../../contract/records.js';
import type { ConnectedSourceType } from '../../../../contract/sources.js';
import { TYPES_AT_SOURCE } from '../../../../contract/typesAtSource.js';
import type { Listed, TestUser } from '../../../support/client.js';
import { waitFor } from '../../../support/waitFor.js';
import { type Catalogue, eventsOf } from '../../../support/sourceStands/catalogue.js';

/** Ids by type of the little that a helpdesk holds; `attached` are those of what is attached to a type. */
export interface HelpdeskContent {
  readonly types: Partial<Readonly<Record<'ARTICLE' | 'TICKET' | 'CONVERSATION', string>>>;
  readonly attached: HelpdeskContent['types'];
}

/** Why something was not synced. */
const REASON = 'auto_synced_source_types';

/** Connections that are made at once. */
const AT_ONCE = 5;

/** What a caller may say of types. */
export interface TypesWished {
  /** Unset: nothing is said. */
  readonly types?: readonly string[];
  readonly attachments: boolean;
}
const NAMED: readonly (readonly string[] | undefined)[] = [
  ...[undefined, []],
  ...TYPES_AT_SOURCE.map((type) => [type]),
  ...[
    ['TICKET', 'ARTICLE'],
    ['CONVERSATION', 'ARTICLE'],
    ['INCIDENT', 'ATTACHMENT'],
    ['TABLE', 'INCIDENT'],
  ],
];
/** Each type, several, none and nothing said, each with attachments and without. */
export const ALL_WISHES: readonly TypesWished[] = NAMED.flatMap((types) =>
  [false, true].map((attachments) => ({ attachments, ...(types === undefined ? {} : { types }) })),
);
/** One that leaves something out, and one that does not, for runs that have little time. */
export const SOME_WISHES: readonly TypesWished[] = [
  { types: ['TICKET', 'INCIDENT'], attachments: true },
  { attachments: false },
];
/** As files/sync and connections take it; nothing is fetched. */
export const configOf = ({ types, attachments }: TypesWished) => ({
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
  { service, stands }: Catalogue,
  type: ConnectedSourceType,
  name: string,
  body: Record<string, unknown>,
): Promise<TestUser> {
  const user = await service.user(`${type} ${name}`);
  const answer = await stands[type].connect(user, { sync_source_items: false, ...body });
  expect(answer).toMatchObject({ status: 200 });
  return user;
}

/** What becomes of the types that a connection names. @param fill puts a little of each there, and nothing else */
export function typeRows(
  catalogue: Catalogue,
  type: ConnectedSourceType,
  fill: Fill,
  wishes: readonly TypesWished[] = ALL_WISHES,
): void {
  test(`${type}: auto_synced_source_types and sync_attachments: what is named comes, what is not stays away`, async () => {
    const { types, attached } = fill();
    const limit = pLimit(AT_ONCE);
    const came = await Promise.all(
      wishes.map((wish, at) =>
        limit(async () => {
          const user = await connect(catalogue, type, `types ${at}`, { file_sync_config: configOf(wish) });
          await waitFor(
            () => only(user),
            ({ files_synced_at: done }) => done !== null,
          );
          const files = await filesOf(user);
          for (const [one, id] of Object.entries(types))
            expect(namesOf(await filesOf(user, { file_types_at_source: [one] }))).toEqual(
              namesOf(files).filter((each) => each === id),
            );
          return { ...wish, files: namesOf(files) };
        }),
      ),
    );
    const expected = wishes.map((wish) => {
      const { types: named, attachments } = wish;
      const meant = (ids: HelpdeskContent['types']) =>
        Object.entries(ids).flatMap(([one, id]) => (named === undefined || named.includes(one) ? [id] : []));
      return { ...wish, files: [...meant(types), ...(attachments ? meant(attached) : [])].toSorted() };
    });
    expect(came).toEqual(expected);
  });
}

/** What is told where a selection brings less than lies in it. */
export function leftOutRows(catalogue: Catalogue, type: ConnectedSourceType, fill: Fill): void {
  test(`${type}: a selection that its connection has left out by type says so, once; one of what was named does not`, async () => {
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
    /** What is told of a selection, once it has come to its end. */
    const toldOf = async (ids: readonly unknown[], requestId: string) => {
      const body = { data_source_id: id, ids, request_id: requestId };
      expect((await user.post('/integrations/files/sync', body)).status).toBe(200);
      const told = await waitFor(
        () => eventsOf(catalogue.service, customerId),
        (events) =>
          events.some((event) => event.kind === 'ALL_FILES_PROCESSED' && event.info?.['request_id'] === requestId),
      );
      return told.filter(
        (event) =>
          event.kind === 'FILES_SKIPPED' && event.info?.['reason'] === REASON && event.info['request_id'] === requestId,
      );
    };
    expect(await toldOf([rootOf(types.ARTICLE)], 'articles')).toMatchObject([{ objectId: [] }]);
    expect(await toldOf([rootOf(types.TICKET)], 'tickets')).toEqual([]);
    expect(await toldOf([types.ARTICLE], 'one article')).toEqual([]);
    expect(namesOf(await filesOf(user))).toEqual([types.ARTICLE!, types.TICKET!].toSorted());
  });
}

/** What every helpdesk does with the types of the things that it holds. @param fill puts a little of each there, and nothing else */
export function helpdeskRows(catalogue: Catalogue, type: ConnectedSourceType, fill: Fill): void {
  describe(`${type} as a helpdesk`, () => {
    typeRows(catalogue, type, fill);
    leftOutRows(catalogue, type, fill);

    test('sync_files_on_connection false: it is listed, attachments and all, and nothing is synced until it is chosen', async () => {
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
      const wanted = [...Object.values(types), ...Object.values(attached)];
      expect(items.map((item) => item.external_id)).toEqual(expect.arrayContaining(wanted));
      expect(await filesOf(user)).toEqual([]);
      // By its own id something attached comes without being asked for as such.
      const chosen = [attached.TICKET!, types.ARTICLE!];
      const body = { data_source_id: id, ids: chosen, file_sync_config: { auto_synced_source_types: [] } };
      expect((await user.post('/integrations/files/sync', body)).status).toBe(200);
      const files = await waitFor(
        () => filesOf(user),
        (some) => some.length === 2 && some.every((file) => file.sync_status === 'READY'),
      );
      expect(namesOf(files)).toEqual(chosen.toSorted());
    });
  });
}
