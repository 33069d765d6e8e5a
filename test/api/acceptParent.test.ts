/** Tests of the acceptance of scrapes and feeds, with a fake store: their run, their schedule and their transaction. */
import { expect, test } from '@jest/globals';

import { acceptParent, acceptSingleParent, type NewParent } from '../../api/web/acceptParent.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

const ADA = { organizationId: 1, userId: 7, customerId: 'ada' };
const RUN = { _id: 3 };
const parentOf = (fields: Partial<NewParent>) =>
  ({
    ...{ runId: 3, requestId: 'r', source: 'WEB_SCRAPE', externalFileId: 'x', enableAutoSync: null },
    work: { kind: 'scrapeSitemap', request: { url: 'https://site.example/', tags: {}, ingest: {}, scrape: {} } },
    ...fields,
  }) as NewParent;

test('only a new scrape has a run to start; enable_auto_sync determines whether a scrape has a schedule', () =>
  everyRow(
    [
      [true, null, []],
      [true, false, []],
      [true, true, [true]],
      [false, true, [true]],
      [false, false, [false]],
      // Without enable_auto_sync, a known scrape loses its schedule.
      [false, null, [false]],
    ] as [boolean, boolean | null, boolean[]][],
    String,
    async ([isNew, enableAutoSync, schedules]) => {
      const file = { _id: 5, isContainer: true };
      const { stores, of } = recorder({ 'files.accept': { file, isNew }, 'runs.accept': RUN });
      const accepted = await acceptParent(ADA, parentOf({ enableAutoSync }), stores, null as never);
      expect(accepted).toEqual({ parent: file, first: isNew ? RUN : null });
      expect(of('schedules.markContainer').map(([owner, id, isOn]) => [owner, id, isOn])).toEqual(
        schedules.map((isOn) => [ADA, 5, isOn]),
      );
    },
  ));

test('the run of a scrape has its token limit, and the data source of its parent', async () => {
  const { stores, of } = recorder({ 'files.accept': { file: { _id: 5, isContainer: true }, isNew: true } });
  const dataSource = { _id: 9 } as never;
  await acceptParent(ADA, parentOf({ maxTokens: 0, dataSource }), stores, null as never);
  await acceptParent(ADA, parentOf({}), stores, null as never);
  const [withLimit, without] = of('runs.accept').map(([, run]) => run as object);
  expect(withLimit).toMatchObject({ kind: 'scrapeSitemap', owner: ADA, fileId: 5, maxTokens: 0, dataSourceId: 9 });
  expect(Object.keys(without!)).not.toEqual(expect.arrayContaining(['maxTokens']));
});

/**
 * Accepts a parent.
 * @param isShared whether the shared transaction accepts it
 * @returns the transactions used, in order
 */
async function acceptedBy(fields: Partial<NewParent>, isShared = true) {
  const file = { _id: 5, isContainer: true };
  const { stores } = recorder({
    ...{ 'files.accept': { file, isNew: true }, 'files.nextId': 5, 'runs.accept': RUN },
  });
  const drafts = { files: { draft: () => file }, runs: { draft: () => RUN } };
  const store = new Proxy(stores as Record<string, object>, {
    get: (target, name: string) =>
      new Proxy(target[name]!, {
        get: (member, key: string) =>
          (drafts as Record<string, Record<string, unknown>>)[name]?.[key] ?? (member as Record<string, unknown>)[key],
      }),
  });
  const used: string[] = [];
  const unit = {
    transaction: (work: (session: null) => unknown) => (used.push('own'), work(null)),
    acceptContainer: () => (used.push('shared'), Promise.resolve(isShared)),
  };
  const { first } = await acceptSingleParent(ADA, parentOf(fields), { store, unit } as never);
  expect(first).toBe(RUN);
  return used;
}

test('new scrapes share a transaction; one that is known, or has a schedule or data source, has its own', async () => {
  expect(await acceptedBy({})).toEqual(['shared']);
  expect(await acceptedBy({ enableAutoSync: false })).toEqual(['shared']);
  expect(await acceptedBy({}, false)).toEqual(['shared', 'own']);
  expect(await acceptedBy({ enableAutoSync: true })).toEqual(['own']);
  expect(await acceptedBy({ dataSource: { _id: 9 } as never })).toEqual(['own']);
});
