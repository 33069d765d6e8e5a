/** A Gmail mailbox with hundreds of thousands of messages, each with one label or none. */
import { type Call, sendJson } from '../emulator.js';
import { type GoogleRefusal, refuseGoogle } from '../googleApi.js';
import { type LargeAccount, range, startLarge } from './largeAccount.js';
import { type Limit, MINUTE_MS } from './quota.js';

/**
 * Page that documents the quota units of each method. The limits apply to projects created on or after 1 May 2026;
 * older projects have higher limits.
 */
const QUOTA_PAGE = 'https://developers.google.com/workspace/gmail/api/reference/quota';
const unitsOf = ({ path }: Call): number => {
  const [, , , , resource, id] = path;
  if (resource === 'messages') return id === undefined ? 5 : 20;
  if (resource === 'history') return 2;
  return 1;
};
const LIMITS: readonly Limit[] = [
  { name: 'quota units of a user per minute', max: 6_000, perMs: MINUTE_MS, page: QUOTA_PAGE, unitsOf },
];
/** Each label covers a tenth of the mailbox. The last tenth has no label. */
const LABELS = ['INBOX', 'SENT', ...range(1, 8).map((number) => `Label_${number}`)];
const HISTORY = '900';

/** @param messages number of messages, a multiple of 10 */
export const startLargeGmail = (messages: number): Promise<LargeAccount> => {
  const perLabel = messages / (LABELS.length + 1);
  const labelOf = (number: number): string | undefined => LABELS[Math.floor(number / perLabel)];
  const messageJson = (number: number) => ({
    ...{ id: `m${number}`, threadId: `m${number}`, historyId: String(100 + (number % 700)) },
    labelIds: [labelOf(number) ?? []].flat(),
    internalDate: '1772532000000',
    payload: { headers: [{ name: 'Subject', value: `Message ${number}` }] },
  });
  const answer = ({ path, query, response }: Call): void => {
    const [, , , , resource, id] = path;
    const send = (body: object): void => sendJson(response, 200, body);
    if (resource === 'profile') return send({ historyId: HISTORY });
    const labelJson = (label: string) => ({ id: label, name: label, type: label.includes('_') ? 'user' : 'system' });
    if (resource === 'labels') return send(id === undefined ? { labels: LABELS.map(labelJson) } : labelJson(id));
    if (resource === 'history') return send({ historyId: HISTORY });
    if (id !== undefined) return send(messageJson(Number(id.slice(1))));
    const label = query.get('labelIds');
    const labelIndex = label === null ? LABELS.length : LABELS.indexOf(label);
    const from = Number(query.get('pageToken') ?? 0);
    const to = Math.min(perLabel, from + Number(query.get('maxResults') ?? 100));
    send({
      messages: range(labelIndex * perLabel + from, labelIndex * perLabel + to).map((number) => ({ id: `m${number}` })),
      ...(to < perLabel ? { nextPageToken: String(to) } : {}),
      resultSizeEstimate: perLabel,
    });
  };
  return startLarge<GoogleRefusal>({
    source: 'GMAIL',
    files: messages,
    limits: LIMITS,
    path: '/gmail/v1/users/me',
    refuse: refuseGoogle,
    // Without Retry-After, because Google documents no time to wait:
    // https://developers.google.com/workspace/gmail/api/guides/handle-errors
    refusalOf: () => ({ status: 403, reason: 'userRateLimitExceeded', message: 'User Rate Limit Exceeded' }),
    answer,
  });
};
