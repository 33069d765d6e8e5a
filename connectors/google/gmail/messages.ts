import { Fault } from '../../../contract/failures.js';
import type { SourceClient } from '../../accountClient.js';
import type { ItemPage, SourceItem } from '../../sourceItem.js';
import { asAnswer, asList } from '../../json.js';
import type { GmailMessage, GmailMessageList, GmailThread } from '../vendorTypes.js';
import { fetchPage } from '../paged.js';
import { isMailId, itemOfMessage, MESSAGE_FIELDS, type MessageJson } from './adapter.js';
import { isFault, noSuchItem, requireId, requireList } from '../../faults.js';

/**
 * Page size. Each message is a separate request, because listings contain ids only. A page that exceeds a user's quota
 * per minute is read again from its first message, so pages are short.
 */
const MESSAGES_PER_PAGE = '25';

const idsIn = (list: unknown): string[] =>
  asList(list)
    .map((given) => asAnswer<GmailMessage>(given).id)
    .filter(isMailId);

/**
 * Awaits a call with the id of a message or thread. Gmail answers 400, "Invalid id value", to a malformed id; this
 * becomes the error for an unknown message.
 * Measured at Gmail by the authors of this emulator: https://pypi.org/project/backlot/0.1.0/
 */
export async function byId<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw isFault(error, 'bad_response') ? noSuchItem('Gmail') : error;
  }
}

/** Returns a message without its text; null if it was deleted. */
async function messageAt(client: SourceClient, id: string): Promise<MessageJson | null> {
  try {
    const message = await byId(client.get(['messages', id], { format: 'metadata', fields: MESSAGE_FIELDS }));
    return asAnswer<GmailMessage>(requireId('Gmail', message, 'the message'));
  } catch (error) {
    if (error instanceof Fault && error.kind === 'not_found') return null;
    throw error;
  }
}

/** Returns messages as items, in their order; null for deleted ones. */
export const itemsAt = (client: SourceClient, ids: readonly string[]): Promise<readonly (SourceItem | null)[]> =>
  Promise.all(
    ids.map(async (id) => {
      const message = await messageAt(client, id);
      return message && itemOfMessage(message);
    }),
  );

/** Returns a page of the messages that match a query or a label. */
export async function messagesPage(
  client: SourceClient,
  filter: { readonly q: string } | { readonly labelIds: string },
  token: string | null,
): Promise<ItemPage> {
  const query = { ...filter, maxResults: MESSAGES_PER_PAGE, fields: 'nextPageToken,resultSizeEstimate,messages(id)' };
  const { body, next } = await fetchPage<GmailMessageList>(client, ['messages'], query, token);
  // Gmail omits an empty list, and gives an estimated size of 0 instead.
  if (body.resultSizeEstimate === undefined) requireList('Gmail', body.messages, 'messages');
  const items = await itemsAt(client, idsIn(body.messages));
  return { items: items.filter((item) => item !== null), next };
}

/** Returns the messages of a thread, oldest first, without their texts. */
export async function threadAt(client: SourceClient, id: string): Promise<readonly MessageJson[]> {
  const query = { format: 'metadata', fields: `messages(${MESSAGE_FIELDS})` };
  const { messages } = asAnswer<GmailThread>(await byId(client.get(['threads', id], query)));
  return requireList('Gmail', messages, 'the messages of the thread').map(asAnswer<GmailMessage>);
}
