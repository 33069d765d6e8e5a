import { changeFeed, shapeOf, nullable, string } from '../../cursors.js';
import { Fault } from '../../../contract/failures.js';
import type { Change } from '../../sourceItem.js';
import { type Answer, asAnswer, asList, asText } from '../../json.js';
import type { GmailHistory, GmailHistoryEntry, GmailHistoryList, GmailMessage, GmailProfile } from '../vendorTypes.js';
import { isStale } from '../paged.js';
import { isMailId } from './adapter.js';
import { placesAt } from './labels.js';
import { itemsAt } from './messages.js';
import { requireList } from '../../faults.js';

/**
 * The history id to start from, and the token of the next page. History ids are strings, because they can exceed
 * Number.MAX_SAFE_INTEGER.
 */
const CHANGE_TOKEN = shapeOf({ start: string, token: nullable(string) });

const RECORDS_PER_PAGE = '100';
const HISTORY_ID = /^\d{1,20}$/;

const stale = (): Fault =>
  new Fault('stale_cursor', 'Gmail no longer has the changes since the last sync. Everything is listed again.');

/** Returns the messages in a page of the history, each once; the value is true for permanently deleted messages. */
function messagesIn(history: readonly unknown[]): Map<string, boolean> {
  const found = new Map<string, boolean>();
  for (const given of history) {
    const record = asAnswer<GmailHistory>(given);
    for (const kind of ['messagesAdded', 'labelsAdded', 'labelsRemoved', 'messagesDeleted'] as const)
      for (const entry of asList(record[kind])) {
        const { id } = asAnswer<GmailMessage>(asAnswer<GmailHistoryEntry>(entry).message);
        if (isMailId(id)) found.set(id, kind === 'messagesDeleted');
      }
  }
  return found;
}

export const gmailChanges = changeFeed(CHANGE_TOKEN, {
  async now(client) {
    const { historyId } = asAnswer<GmailProfile>(await client.get(['profile'], { fields: 'historyId' }));
    const start = asText(historyId);
    if (start === null || !HISTORY_ID.test(start))
      throw new Fault(
        'server_error',
        'Gmail did not return the id of its history. The request is retried automatically.',
      );
    return { start, token: null };
  },

  async since(client, { start, token }) {
    const query = {
      startHistoryId: start,
      maxResults: RECORDS_PER_PAGE,
      ...(token === null ? {} : { pageToken: token }),
    };
    let body: Answer<GmailHistoryList>;
    try {
      body = asAnswer<GmailHistoryList>(await client.get(['history'], query));
    } catch (error) {
      // Gmail keeps its history for about a week.
      if (isStale(error) || (error instanceof Fault && error.kind === 'not_found')) throw stale();
      throw error;
    }
    // Gmail omits an empty list, but never the id of the history.
    if (body.historyId === undefined) requireList('Gmail', body.history, 'its history');
    const found = [...messagesIn(asList(body.history))];
    // The current labels show whether a message was moved to the trash, or back.
    const presentIds = found.filter(([, isGone]) => !isGone).map(([id]) => id);
    const items = new Map((await itemsAt(client, presentIds)).map((item, index) => [presentIds[index], item]));
    // The history has no changes of labels themselves, so the current labels are listed with the messages.
    const places = found.length === 0 ? [] : await placesAt(client);
    const changes = [
      ...places.map((item): Change => ({ item })),
      ...found.map(([id]): Change => {
        const item = items.get(id) ?? null;
        return item ? { item } : { gone: id };
      }),
    ];
    const next = asText(body.nextPageToken);
    if (next !== null) return { changes, next: { start, token: next }, more: true };
    const end = asText(body.historyId);
    return {
      changes,
      next: { start: end !== null && HISTORY_ID.test(end) ? end : start, token: null },
      more: false,
    };
  },
});
