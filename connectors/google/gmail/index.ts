/**
 * Gmail: messages of an account, selected by labels, threads or a query.
 * https://developers.google.com/workspace/gmail/api
 */
import { gmailFilterOf } from '../../../contract/sources/gmailFilters.js';
import { Fault } from '../../../contract/failures.js';
import type { Connector } from '../../connector.js';
import type { OAuthGrant } from '../../oauthSpec.js';
import type { SourceClient } from '../../accountClient.js';
import type { ItemPage, SourceItem } from '../../sourceItem.js';
import { classify, googleOAuth, projectLimit, waitMs } from '../api.js';
import { asAnswer, asText } from '../../json.js';
import type { GmailLabel, GmailMessage, GmailProfile } from '../vendorTypes.js';
import {
  contentOf,
  isMailId,
  isTrashOrSpam,
  itemOfLabel,
  itemOfMessage,
  labelIn,
  type MessageJson,
  OTHER_MAIL,
  otherMail,
  threadIn,
} from './adapter.js';
import { gmailChanges } from './changes.js';
import { labelsAt, placesAt } from './labels.js';
import { byId, itemsAt, messagesPage, threadAt } from './messages.js';
import { gmailQuery } from './query.js';
import { bearer } from '../../bearer.js';
import { noSuchItem, requireId } from '../../faults.js';

const missing = (): Fault => noSuchItem('Gmail');

/** Matches messages without any label that is listed as a folder: the user's labels, inbox and sent mail. */
const OTHER_QUERY = 'has:nouserlabels -in:inbox -in:sent';

/** Returns a page of the messages of a label, or of other mail. The first page begins with the item of the folder. */
async function pageWithLabel(
  client: SourceClient,
  itself: () => Promise<SourceItem> | SourceItem,
  filter: { readonly q: string } | { readonly labelIds: string },
  cursor: string | null,
): Promise<ItemPage> {
  const first = cursor === null ? [await itself()] : [];
  const { items, next } = await messagesPage(client, filter, cursor);
  return { items: [...first, ...items], next };
}

/** Returns the id of the previous message in the thread; null for the first one, or if it is unknown. */
async function previousInThread(client: SourceClient, message: MessageJson): Promise<string | null> {
  const { id, threadId } = message;
  if (!isMailId(threadId) || threadId === id) return null;
  const ids = (await threadAt(client, threadId)).map((earlier) => earlier.id);
  const before = ids[ids.indexOf(id) - 1];
  return isMailId(before) ? before : null;
}

export const gmail: Connector<OAuthGrant> = {
  about: {
    listed: 'labels, messages',
    ingested:
      'each message that `POST /integrations/gmail/sync` or a selection names; attachments below their message, with `sync_attachments`',
    unchangedBy: 'historyId',
    deletions:
      'messages in spam and trash count as deleted; a deleted label stays listed until the next complete listing',
    limits: 'a listing requests each message separately, so a large mailbox takes time',
  },
  oauth: googleOAuth(['https://www.googleapis.com/auth/gmail.readonly']),
  headers: bearer,
  classify,
  waitMs,
  sharedLimit: projectLimit,

  async identify(client) {
    const { emailAddress } = asAnswer<GmailProfile>(await client.get(['profile'], { fields: 'emailAddress' }));
    const email = asText(emailAddress)?.toLowerCase();
    if (email === undefined) throw new Fault('server_error', 'Gmail returned no email address. Try again.');
    return { account: email, metadata: { email } };
  },

  async listRoots(client, _cursor) {
    return { items: [...(await placesAt(client)), otherMail()], next: null };
  },

  async listDescendants(client, externalId, cursor) {
    const filter = gmailFilterOf(externalId);
    if (filter !== undefined) return messagesPage(client, { q: gmailQuery(filter) }, cursor);
    if (externalId === OTHER_MAIL) return pageWithLabel(client, otherMail, { q: OTHER_QUERY }, cursor);
    const label = labelIn(externalId);
    if (label !== null) {
      const itself = async (): Promise<SourceItem> => {
        const json = await client.get(['labels', label], { fields: 'id,name,type' });
        const item = itemOfLabel(asAnswer<GmailLabel>(requireId('Gmail', json, 'the label')));
        if (!item) throw missing();
        return item;
      };
      return pageWithLabel(client, itself, { labelIds: label }, cursor);
    }
    const thread = threadIn(externalId);
    if (thread === null && !isMailId(externalId)) throw missing();
    const items =
      thread === null ? await itemsAt(client, [externalId]) : (await threadAt(client, thread)).map(itemOfMessage);
    const present = items.filter((item) => item !== null);
    if (present.length === 0) throw missing();
    return { items: present, next: null };
  },

  changes: gmailChanges,

  reads: {
    async labels(client, _query) {
      return (await labelsAt(client)).flatMap(({ id, name, type }) =>
        isMailId(id) ? [{ id, name: asText(name) ?? id, type: type === 'user' ? 'user' : 'system' }] : [],
      );
    },
  },

  async open(client, externalId) {
    if (!isMailId(externalId)) throw missing();
    // Requested with the size limit of content: the answer contains the whole message with its attachments.
    const query = { format: 'raw', fields: 'id,threadId,labelIds,raw' };
    const answer = await byId(client.content(['messages', externalId], query));
    let message: MessageJson;
    try {
      message = asAnswer<GmailMessage>(JSON.parse(Buffer.from(answer.bytes).toString()));
    } catch {
      message = {};
    }
    if (isTrashOrSpam(message)) throw missing();
    const raw = asText(message.raw);
    if (raw === null)
      throw new Fault('server_error', 'Gmail returned no text of the message. The request is retried automatically.');
    return contentOf(message, Buffer.from(raw, 'base64url'), await previousInThread(client, message));
  },
};
