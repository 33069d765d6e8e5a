import { describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../../contract/records.js';
import type { ConnectedSourceType } from '../../../../contract/sources.js';
import type { Listed, TestUser } from '../../../support/client.js';
import { soon } from '../../../support/soon.js';
import type { Catalogue } from '../catalogue.js';

/** Ids by type of the little that a helpdesk holds; `attached` are those of what is attached to a type. */
export interface HelpdeskContent {
  readonly types: Partial<Readonly<Record<'ARTICLE' | 'TICKET' | 'CONVERSATION', string>>>;
  readonly attached: HelpdeskContent['types'];
}

const WISHES: readonly { readonly types?: readonly string[]; readonly attachments: boolean }[] = [
  { attachments: false },
  { attachments: true },
  { types: [], attachments: true },
  { types: ['ARTICLE'], attachments: true },
  { types: ['TICKET'], attachments: false },
  { types: ['TICKET'], attachments: true },
  { types: ['CONVERSATION'], attachments: true },
  { types: ['TICKET', 'ARTICLE'], attachments: false },
  { types: ['CONVERSATION', 'ARTICLE'], attachments: true },
  { types: ['INCIDENT'], attachments: true },
];

const only = async (user: TestUser): Promise<DataSourceRecord> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
const filesOf = async (user: TestUser, filters: Record<string, unknown> = {}): Promise<FileRecord[]> =>
  (await user.post<Listed<FileRecord>>('/user_files_v2', { filters, pagination: { limit: 100 } })).body.results;
const namesOf = (files: readonly FileRecord[]): string[] => files.map((file) => file.external_file_id).toSorted();

/** What every helpdesk does with the types of the things that it holds. @param fill puts a little of each there, and nothing else */
export function helpdeskRows(catalogue: Catalogue, type: ConnectedSourceType, fill: () => HelpdeskContent): void {
  const connect = async (name: string, body: Record<string, unknown>): Promise<TestUser> => {
    const user = await catalogue.service.user(`${type} ${name}`);
    const answer = await catalogue.stands[type].connect(user, { sync_source_items: false, ...body });
    expect(answer).toMatchObject({ status: 200 });
    return user;
  };

  describe(`${type} as a helpdesk`, () => {
    test('auto_synced_source_types and sync_attachments: what is named comes, what is not stays away', async () => {
      const { types, attached } = fill();
      const came = await Promise.all(
        WISHES.map(async ({ types: named, attachments }, at) => {
          const config = {
            sync_attachments: attachments,
            ...(named === undefined ? {} : { auto_synced_source_types: named }),
          };
          const user = await connect(`types ${at}`, { file_sync_config: config });
          await soon(
            () => only(user),
            ({ files_synced_at: done }) => done !== null,
          );
          const files = await filesOf(user);
          expect(files.map((file) => file.sync_status)).toEqual(files.map(() => 'READY'));
          for (const [one, id] of Object.entries(types))
            expect(namesOf(await filesOf(user, { file_types_at_source: [one] }))).toEqual(
              namesOf(files).filter((each) => each === id),
            );
          return { named, attachments, files: namesOf(files) };
        }),
      );
      const expected = WISHES.map(({ types: named, attachments }) => {
        const meant = (ids: HelpdeskContent['types']) =>
          Object.entries(ids).flatMap(([one, id]) => (named === undefined || named.includes(one) ? [id] : []));
        return { named, attachments, files: [...meant(types), ...(attachments ? meant(attached) : [])].toSorted() };
      });
      expect(came).toEqual(expected);
    });

    test('sync_files_on_connection false: it is listed, attachments and all, and nothing is synced until it is chosen', async () => {
      const { types, attached } = fill();
      const user = await connect('listed', { sync_source_items: true, sync_files_on_connection: false });
      const { id } = await soon(
        () => only(user),
        ({ source_items_synced_at: done }) => done !== null,
      );
      const listing = { data_source_id: id, pagination: { limit: 100 } };
      const { items } = (await user.post<{ items: { external_id: string }[] }>('/integrations/items/list', listing))
        .body;
      const wanted = [...Object.values(types), ...Object.values(attached)];
      expect(items.map((item) => item.external_id)).toEqual(expect.arrayContaining(wanted));
      expect(await filesOf(user)).toEqual([]);
      // By its own id something attached comes without being asked for as such.
      const chosen = [attached.TICKET!, types.ARTICLE!];
      const body = { data_source_id: id, ids: chosen, file_sync_config: { auto_synced_source_types: [] } };
      expect((await user.post('/integrations/files/sync', body)).status).toBe(200);
      const files = await soon(
        () => filesOf(user),
        (some) => some.length === 2 && some.every((file) => file.sync_status === 'READY'),
      );
      expect(namesOf(files)).toEqual(chosen.toSorted());
    });
  });
}
