/**
 * Emulates Gmail on loopback, by its published API reference (v1): a mailbox whose messages and labels a test changes.
 * Consent and tokens come from oauthProvider.ts.
 */
import { type Call, sendJson } from './emulator.js';
import { createMailHistory, type MailHistory } from './gmailHistory.js';
import { readGmailQuery } from './gmailQuery.js';
import { createPages, type GoogleEmulator, type Pages, refuseGoogle, selectFields, startGoogle } from './googleApi.js';
import type { OAuthProviderSettings } from './oauthProvider.js';

export interface MailAttachment {
  readonly name: string;
  readonly type: string;
  readonly content: string;
}

export interface EmulatedMail {
  /** Ids of system labels (INBOX, SENT, UNREAD…) and of user labels. */
  labels: string[];
  /** Id of the first message of the thread. Unset: the message starts its thread. */
  thread?: string;
  subject?: string;
  from?: string;
  to?: string;
  cc?: string;
  text?: string;
  /** Time of the message. Unset: 3 March 2026, 10:00 UTC. */
  at?: string;
  attachments?: readonly MailAttachment[];
}

export interface GmailEmulator extends GoogleEmulator {
  /** The value of SOURCE_URLS. */
  readonly settings: string;
  /** Messages by id; newest last. */
  readonly mails: Record<string, EmulatedMail>;
  /** Names of user labels, by id. */
  readonly labels: Record<string, string>;
  readonly pages: Pages;
  readonly history: MailHistory;
}

const SYSTEM_LABELS = [
  'INBOX',
  'SENT',
  'DRAFT',
  'SPAM',
  'TRASH',
  'UNREAD',
  'STARRED',
  'IMPORTANT',
  'CHAT',
  'CATEGORY_PERSONAL',
];
const STAMP = '2026-03-03T10:00:00.000Z';

const headersOf = (
  id: string,
  {
    subject = `About ${id}`,
    from = 'Ada <ada@harbour.example>',
    to = 'ben@harbour.example',
    cc,
    at = STAMP,
  }: EmulatedMail,
) => [
  { name: 'From', value: from },
  { name: 'To', value: to },
  ...(cc === undefined ? [] : [{ name: 'Cc', value: cc }]),
  { name: 'Subject', value: subject },
  { name: 'Date', value: new Date(at).toUTCString() },
  { name: 'Message-ID', value: `<${id}@harbour.example>` },
];

/** Returns the message in RFC 822 format. */
function rawOf(id: string, mail: EmulatedMail): string {
  const { text = `On ${id}.`, attachments = [] } = mail;
  const head = headersOf(id, mail)
    .map(({ name, value }) => `${name}: ${value}\r\n`)
    .join('');
  const body = `Content-Type: text/plain; charset=utf-8\r\n\r\n${text}\r\n`;
  if (attachments.length === 0) return `${head}MIME-Version: 1.0\r\n${body}`;
  const parts = attachments.map(
    ({ name, type, content }) =>
      `--part\r\nContent-Type: ${type}; name="${name}"\r\nContent-Disposition: attachment; filename="${name}"\r\nContent-Transfer-Encoding: base64\r\n\r\n${Buffer.from(content).toString('base64')}\r\n`,
  );
  return `${head}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="part"\r\n\r\n--part\r\n${body}${parts.join('')}--part--\r\n`;
}

/** @param perPage maximum page size, even if a request asks for more */
export async function startGmail({
  perPage = 2,
  ...settings
}: { perPage?: number } & Partial<OAuthProviderSettings> = {}): Promise<GmailEmulator> {
  const mails: Record<string, EmulatedMail> = {};
  const labels: Record<string, string> = {};
  const pages = createPages({ status: 400, reason: 'invalidArgument', message: 'Invalid pageToken' });
  const history = createMailHistory(
    () =>
      new Map(Object.entries(mails).map(([id, mail]) => [id, { labelIds: [...mail.labels], raw: rawOf(id, mail) }])),
  );
  const mailAt = (id: string) => (Object.hasOwn(mails, id) ? mails[id] : undefined);
  const timeOf = ({ at = STAMP }: EmulatedMail): number => Date.parse(at);
  const idsOf = (id: string, mail: EmulatedMail) => ({ id, threadId: mail.thread ?? id });

  const messageJson = (id: string, mail: EmulatedMail, format: string): Record<string, unknown> => ({
    ...idsOf(id, mail),
    labelIds: mail.labels,
    historyId: history.idOf(id),
    internalDate: String(timeOf(mail)),
    sizeEstimate: rawOf(id, mail).length,
    snippet: (mail.text ?? '').slice(0, 80),
    ...(format === 'raw' ? { raw: Buffer.from(rawOf(id, mail)).toString('base64url') } : {}),
    ...(format === 'metadata' ? { payload: { mimeType: 'text/plain', headers: headersOf(id, mail) } } : {}),
  });

  const listMessages = (call: Call): void => {
    const { query, response } = call;
    const test = readGmailQuery(query.get('q') ?? '');
    if (!test) return refuseGoogle(response, { status: 400, reason: 'invalidArgument' });
    const requestedLabels = query.getAll('labelIds');
    const found = Object.entries(mails)
      .filter(([, mail]) => {
        const isHidden = mail.labels.some((label) => label === 'SPAM' || label === 'TRASH');
        if (isHidden && query.get('includeSpamTrash') !== 'true') return false;
        const searched = {
          labelIds: mail.labels,
          labels: mail.labels.flatMap((label) => labels[label] ?? []),
          from: mail.from ?? 'Ada <ada@harbour.example>',
          to: mail.to ?? 'ben@harbour.example',
          at: timeOf(mail),
          hasAttachment: (mail.attachments ?? []).length > 0,
        };
        return requestedLabels.every((label) => mail.labels.includes(label)) && test(searched);
      })
      .toReversed();
    const taken = pages.take(call, found, Math.min(perPage, Number(query.get('maxResults') ?? 100)));
    if (!taken) return;
    // Gmail omits the list when it is empty.
    const messages = taken.page.map(([id, mail]) => idsOf(id, mail));
    const answer = {
      ...(messages.length === 0 ? {} : { messages }),
      ...(taken.next === null ? {} : { nextPageToken: taken.next }),
      resultSizeEstimate: found.length,
    };
    sendJson(response, 200, selectFields(query.get('fields'), answer));
  };

  const listHistory = (call: Call): void => {
    const { query, response } = call;
    const start = query.get('startHistoryId') ?? '';
    if (!/^\d+$/.test(start)) return refuseGoogle(response, { status: 400, location: 'startHistoryId' });
    const all = history.since(start);
    if (!all) return refuseGoogle(response, { status: 404, message: 'Requested entity was not found.' });
    const taken = pages.take(call, all, Math.min(perPage, Number(query.get('maxResults') ?? 100)));
    if (!taken) return;
    const records = taken.page.map(({ id, message, kind, labelIds }) => {
      const mail = mailAt(message);
      const changed = { ...(mail ? idsOf(message, mail) : { id: message, threadId: message }), labelIds };
      const entry = kind.startsWith('labels') ? { message: changed, labelIds } : { message: changed };
      const { id: messageId, threadId } = changed;
      return { id, messages: [{ id: messageId, threadId }], [kind]: [entry] };
    });
    const answer = {
      ...(records.length === 0 ? {} : { history: records }),
      ...(taken.next === null ? {} : { nextPageToken: taken.next }),
      historyId: history.now(),
    };
    sendJson(response, 200, selectFields(query.get('fields'), answer));
  };

  const labelJson = (id: string) =>
    Object.hasOwn(labels, id) ? { id, name: labels[id], type: 'user' } : { id, name: id, type: 'system' };

  const emulator = await startGoogle(
    (call, { person }) => {
      history.recordChanges();
      const { path, query, response } = call;
      const [gmail, version, users, me, resource, id, ...rest] = path;
      const isHere = gmail === 'gmail' && version === 'v1' && users === 'users' && me === 'me' && rest.length === 0;
      const send = (body: unknown): void => sendJson(response, 200, selectFields(query.get('fields'), body));
      const missing = () => refuseGoogle(response, { status: 404, message: 'Requested entity was not found.' });
      if (!isHere) return missing();
      if (resource === 'profile' && id === undefined)
        return send({
          ...{ emailAddress: person.id, messagesTotal: Object.keys(mails).length },
          ...{ threadsTotal: new Set(Object.entries(mails).map(([key, { thread }]) => thread ?? key)).size },
          historyId: history.now(),
        });
      if (resource === 'labels' && id === undefined)
        return send({ labels: [...SYSTEM_LABELS, ...Object.keys(labels)].map(labelJson) });
      if (resource === 'labels' && id !== undefined)
        return SYSTEM_LABELS.includes(id) || Object.hasOwn(labels, id) ? send(labelJson(id)) : missing();
      if (resource === 'history' && id === undefined) return listHistory(call);
      const format = query.get('format') ?? 'full';
      if (resource === 'threads' && id !== undefined) {
        const members = Object.entries(mails).filter(([key, mail]) => (mail.thread ?? key) === id);
        if (members.length === 0) return missing();
        const messages = members.map(([key, mail]) => messageJson(key, mail, format));
        return send({ id, historyId: history.now(), messages });
      }
      if (resource !== 'messages') return missing();
      if (id === undefined) return listMessages(call);
      const mail = mailAt(id);
      return mail ? send(messageJson(id, mail, format)) : missing();
    },
    /^https:\/\/(mail\.google\.com\/|www\.googleapis\.com\/auth\/gmail\.(readonly|modify))/,
    settings,
    // Metadata and text of a message share an address; the suffix lets `injectFault` distinguish them.
    ({ url, query }) => `${url.pathname}${query.get('format') === 'raw' ? '/raw' : ''}`,
  );
  return {
    ...emulator,
    settings: emulator.settingsOf('GMAIL', { api: '/gmail/v1/users/me' }),
    ...{ mails, labels, pages, history },
  };
}
