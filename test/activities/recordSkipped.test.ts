import { expect, test } from '@jest/globals';

import { recordSkipped } from '../../activities/connected/recordSkipped.js';
import type { SourceItem } from '../../connectors/sourceItem.js';
import type { EventItem, NewEvent } from '../../contract/events.js';
import { everyRow } from '../support/everyRow.js';

// Tests of selected items that do not become files. The stores are fakes.
const source = { _id: 5, organizationId: 1, customerId: 'ada', type: 'GOOGLE_DRIVE' } as never;
const run = { _id: 7, organizationId: 1, userId: 2, requestId: 'r', workflowId: 'w' };
const request = { ingest: {}, isWhole: false } as never;
const itemOf = (externalId: string, fields: Partial<SourceItem> = {}): SourceItem =>
  ({ externalId, name: externalId, itemType: 'FILE', isSelectable: false, hasContent: false, ...fields }) as SourceItem;

function fakeStore() {
  const written: { readonly event: NewEvent; readonly once: string }[] = [];
  const transactions: number[] = [];
  const noted: string[] = [];
  const store = {
    async transaction(work: (session: null) => Promise<void>) {
      const countBefore = written.length;
      await work(null);
      transactions.push(written.length - countBefore);
    },
    events: {
      write: (events: readonly NewEvent[], _session: unknown, once: string) => {
        for (const event of events) written.push({ event, once });
        return Promise.resolve();
      },
    },
    ledger: {
      addItems: (_run: unknown, rows: readonly { externalId: string }[]) => {
        noted.push(...rows.map(({ externalId }) => externalId));
        return Promise.resolve();
      },
    },
  };
  return { store: store as never, written, transactions, noted };
}
const itemsIn = ({ info }: NewEvent): string[] =>
  Object.values(info ?? {})
    .filter((items): items is readonly EventItem[] => Array.isArray(items))
    .flatMap((items) => items.map(({ external_id: id }) => id));

/** Numbers of items, and of the events that name them. */
const NUMBERS: readonly (readonly [items: number, events: number])[] = [
  [0, 0],
  [1, 1],
  [100, 1],
  [101, 2],
  [2_000, 20],
  [2_001, 21],
  [4_150, 42],
];

test('each skipped item is in one event and in the ledger, however many there are', () =>
  everyRow(NUMBERS, String, async ([number, events]) => {
    const ids = Array.from({ length: number }, (_, nth) => `item ${nth}`);
    const { store, written, transactions, noted } = fakeStore();
    await recordSkipped(
      store,
      { run: run as never, source, request },
      ids.map((id) => itemOf(id)),
      [],
    );
    expect(written.flatMap(({ event }) => itemsIn(event))).toEqual(ids);
    expect(written).toHaveLength(events);
    expect(new Set(written.map(({ once }) => once)).size).toBe(events);
    expect(Math.max(0, ...transactions)).toBeLessThanOrEqual(20);
    expect(noted).toEqual(ids);
  }));

test('a scheduled sync records skipped items in the ledger, and writes no events', async () => {
  const { store, written, noted } = fakeStore();
  await recordSkipped(store, { run: { ...run, parentRunId: 6 } as never, source, request }, [itemOf('a')], []);
  expect([written, noted]).toEqual([[], ['a']]);
});
