import { createHash } from 'node:crypto';

import type { SkippedItem, SourceItem } from '../../connectors/sourceItem.js';
import { fileEvents, type NewEvent } from '../../contract/events.js';
import type { SyncSourceRequest } from '../../contract/accounts/connections.js';
import { itemEnd } from '../../contract/runs/ledger.js';
import { isChosenByType, EXCLUDED_BY_TYPE } from '../../contract/sources/typesAtSource.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';

type Store = Pick<ActivityDeps['store'], 'transaction' | 'events' | 'ledger'>;

/** Maximum number of items that one event lists. */
const ITEMS_PER_EVENT = 100;
/** Maximum number of events that one transaction writes. */
const EVENTS_AT_ONCE = 20;
/** Reason for an item that the connector marks as not selectable if the connector gives no reason. */
const DEFAULT_REASON = 'The source does not provide this item in a readable form. Open the item at the source.';

type Request = Pick<SyncSourceRequest, 'ingest' | 'isWhole'>;

/** Writes events once per run, even if their page is processed again after a crash. */
export async function recordOnce(
  store: Pick<Store, 'transaction' | 'events'>,
  run: RunDoc,
  events: readonly NewEvent[],
): Promise<void> {
  await store.transaction(async (session) => {
    for (const event of events) {
      const name = createHash('sha256').update(JSON.stringify(event)).digest('base64url');
      await store.events.write([event], session, `skipped:${run._id}:${name}`);
    }
  });
}

/**
 * Returns why no file is created for an item; null if a file is created, if the item only contains other items, or if
 * it was not requested.
 */
function reasonOf(item: SourceItem, { ingest }: Request): string | null {
  const { skipReason, isSelectable, hasContent, isAttachment, attachedTo } = item;
  // The request does not ingest attachments, so it needs no reason for the absence of one.
  if (isAttachment === true && !hasContent && ingest.syncAttachments !== true) return null;
  if (!isChosenByType(item, ingest)) return hasContent && attachedTo === undefined ? EXCLUDED_BY_TYPE : null;
  return skipReason ?? (isSelectable || hasContent ? null : DEFAULT_REASON);
}

/**
 * Records the items of a selection for which no file is created, in the ledger and in events. No file record exists to
 * which an event could refer, so an event lists the ids and names of up to ITEMS_PER_EVENT items with the same reason.
 * Scheduled syncs write no events.
 * @param items items without a file; items without a reason are not recorded
 * @param others other entries that the connector skipped
 */
export async function recordSkipped(
  store: Store,
  { run, source, request }: { readonly run: RunDoc; readonly source: DataSourceDoc; readonly request: Request },
  items: readonly SourceItem[],
  others: readonly SkippedItem[],
): Promise<void> {
  const byReason = new Map<string, Pick<SkippedItem, 'externalId' | 'name'>[]>();
  const add = (entry: Pick<SkippedItem, 'externalId' | 'name'>, reason: string | null): void => {
    // A request for the whole account names the types itself, so the caller does not expect these items. For a
    // selection, the types may come from the settings of the connection, so the items are reported.
    if (reason === null || (reason === EXCLUDED_BY_TYPE && request.isWhole === true)) return;
    const sameReason = byReason.get(reason);
    if (sameReason) sameReason.push(entry);
    else byReason.set(reason, [entry]);
  };
  for (const item of items) add(item, reasonOf(item, request));
  for (const entry of others) if (isChosenByType(entry, request.ingest)) add(entry, entry.reason);
  await store.ledger.addItems(
    run,
    [...byReason].flatMap(([reason, skippedItems]) => {
      const byType = reason === EXCLUDED_BY_TYPE;
      const end = itemEnd('skipped', 'select', byType ? 'left_out_by_type' : 'not_readable');
      return skippedItems.map(({ externalId, name }) => ({
        ...{ fileId: null, externalId, name, end },
        message: byType ? null : reason,
      }));
    }),
  );
  if (run.parentRunId !== undefined) return;
  const ids = { requestId: run.requestId, uploadId: run.uploadId ?? null, workflowId: run.workflowId };
  const events = [...byReason].flatMap(([reason, skippedItems]) =>
    Array.from({ length: Math.ceil(skippedItems.length / ITEMS_PER_EVENT) }, (_, part) => {
      const batch = skippedItems.slice(part * ITEMS_PER_EVENT, (part + 1) * ITEMS_PER_EVENT);
      const listedItems = batch.map(({ externalId, name }) => ({ external_id: externalId, name }));
      return fileEvents.notAccepted(listedItems, reason, source, ids);
    }),
  );
  for (let from = 0; from < events.length; from += EVENTS_AT_ONCE)
    await recordOnce(store, run, events.slice(from, from + EVENTS_AT_ONCE));
}
