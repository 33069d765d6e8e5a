import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import { idOfGmailFilter, readGmailFilter } from '../../contract/sources/gmailFilters.js';
import type { Egress } from '../../egress/types.js';
import { type GmailEmulator, startGmail } from '../emulators/gmail.js';
import { grantedAccount, readListing, loopbackEgress, NEVER } from './account.js';
import { faultOf } from '../support/faultOf.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';

const OTHER = 'mail.other';
let egress: Egress;
let gmail: GmailEmulator;
let account: Account;

beforeAll(async () => {
  egress = loopbackEgress();
  gmail = await startGmail();
});
afterAll(async () => {
  await egress.close();
  await gmail.close();
});
beforeEach(() => {
  for (const map of [gmail.mails, gmail.labels]) for (const id of Object.keys(map)) delete map[id];
  gmail.reset();
  account = grantedAccount('GMAIL', gmail.settings, gmail.oauth.grant().accessToken, egress);
});

/** Creates a mailbox with labels, a thread, and mail in the trash and in spam. */
function fill(): void {
  Object.assign(gmail.labels, { Label_1: 'Work/Boats & Docks', Label_2: 'Home' });
  Object.assign(gmail.mails, {
    a1: {
      labels: ['INBOX', 'Label_1', 'UNREAD'],
      subject: 'Lighthouse',
      text: 'It was lit in 1901.',
      at: '2024-01-06T23:59:59Z',
    },
    a2: {
      labels: ['INBOX'],
      thread: 'a1',
      subject: 'Re: Lighthouse',
      at: '2024-01-07T00:00:00Z',
      from: '"Lee, B" <ben@harbour.example>',
      to: 'ada@harbour.example, Eve <eve@harbour.example>',
      cc: 'Dan <dan@harbour.example>',
    },
    a3: { labels: ['SENT'], thread: 'a1', at: '2024-01-07T12:00:00Z', from: 'eve@harbour.example' },
    b1: { labels: ['Label_1', 'Label_2', 'STARRED'], at: '2024-02-01T00:00:00Z' },
    c1: {
      labels: ['IMPORTANT', 'CATEGORY_PERSONAL'],
      attachments: [{ name: 'notes.md', type: 'text/markdown', content: '# Notes' }],
    },
    d1: { labels: ['DRAFT'] },
    t1: { labels: ['TRASH', 'Label_1'] },
    s1: { labels: ['SPAM'] },
  });
}

const descendantsOf = (id: string) => readListing((cursor) => account.listDescendants(id, cursor, NEVER));
/** Returns the ids that a filter matches. */
async function found(filter: unknown): Promise<string[]> {
  return (await descendantsOf(idOfGmailFilter(readGmailFilter(filter)))).ids.toSorted();
}

describe('listing', () => {
  test('lists labels of mail as roots, and one root for all other mail', async () => {
    fill();
    const { items } = await readListing((cursor) => account.listRoots(cursor, NEVER));
    expect(items.map(({ externalId, name }) => [externalId, name])).toEqual([
      ['label:INBOX', 'INBOX'],
      ['label:SENT', 'SENT'],
      ['label:Label_1', 'Work/Boats & Docks'],
      ['label:Label_2', 'Home'],
      [OTHER, 'Other mail'],
    ]);
  });

  test('lists every message outside trash and spam below the roots, each with a single parent', async () => {
    fill();
    const places = new Map<string, string | null>();
    for (const { externalId } of (await account.listRoots(null, NEVER)).items)
      for (const item of (await descendantsOf(externalId)).items) {
        expect(places.get(item.externalId) ?? item.parentExternalId).toBe(item.parentExternalId);
        if (item.hasContent) places.set(item.externalId, item.parentExternalId);
      }
    expect([...places].toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual([
      ['a1', 'label:Label_1'],
      ['a2', 'label:INBOX'],
      ['a3', 'label:SENT'],
      ['b1', 'label:Label_1'],
      ['c1', OTHER],
      ['d1', OTHER],
    ]);
  });

  test('gives a message its subject, its time, and its sender and recipients as tags', async () => {
    fill();
    const [item] = (await descendantsOf('a2')).items;
    expect(item).toMatchObject({
      name: 'Re: Lighthouse',
      createdAt: '2024-01-07T00:00:00.000Z',
      fileFormat: 'EML',
      version: expect.stringMatching(/^\d{16,}$/),
      tags: {
        sender: 'ben@harbour.example',
        recipient: ['ada@harbour.example', 'eve@harbour.example'],
        cc: ['dan@harbour.example'],
      },
    });
  });

  test('lists a thread completely and a label page by page, and restarts after an expired page token', async () => {
    fill();
    expect((await descendantsOf('thread:a1')).ids).toEqual(['a1', 'a2', 'a3']);
    for (let nth = 0; nth < 5; nth += 1) gmail.mails[`m${nth}`] = { labels: ['Label_2'] };
    const first = await account.listDescendants('label:Label_2', null, NEVER);
    gmail.pages.expire();
    const remainder = await readListing((cursor) =>
      account.listDescendants('label:Label_2', cursor ?? first.next, NEVER),
    );
    expect(new Set([...first.items.map((item) => item.externalId), ...remainder.ids]).size).toBe(7);
  });

  test('leaves out a message that is deleted during the listing', async () => {
    fill();
    gmail.injectFault((path) => (path.endsWith('/messages/a1') ? { status: 404 } : null));
    expect((await descendantsOf('label:INBOX')).ids).toEqual(['label:INBOX', 'a2']);
  });

  test.each([
    [429, 'rate_limited'],
    [500, 'server_error'],
  ])(
    'fails if a message cannot be read because of %s: without the message, it would count as deleted',
    async (status, kind) => {
      fill();
      gmail.injectFault((path) => (path.endsWith('/messages/a1') ? { status } : null));
      expect(await faultOf(account.listDescendants('label:INBOX', null, NEVER))).toMatchObject({ kind });
    },
  );

  test.each([
    'nothing',
    't1',
    's1',
    'thread:nothing',
    'label:nothing',
    'label:UNREAD',
    'label:../x',
    '..',
    'a/b',
    'filter:',
    'filter:e30x',
    'filter:bnVsbA',
  ])('rejects %s as not found', async (id) => {
    fill();
    expect(await faultOf(account.listDescendants(id, null, NEVER))).toMatchObject({ kind: 'not_found' });
  });

  test('reads the current labels', async () => {
    fill();
    const labels = await account.read('labels', {}, NEVER);
    expect(labels).toContainEqual({ id: 'Label_2', name: 'Home', type: 'user' });
    expect(labels).toContainEqual({ id: 'INBOX', name: 'INBOX', type: 'system' });
  });
});

describe('a filter', () => {
  const MATCHES: readonly (readonly [unknown, readonly string[]])[] = [
    [{}, ['a1', 'a2', 'a3', 'b1', 'c1', 'd1']],
    [{ key: 'label', value: 'Work/Boats & Docks' }, ['a1', 'b1']],
    [{ key: 'label', value: 'Important' }, ['c1']],
    [{ key: 'label', value: 'CATEGORY_PERSONAL' }, ['c1']],
    // Days begin in UTC, and "after" includes the day itself.
    [
      {
        AND: [
          { key: 'after', value: '2024/01/07' },
          { key: 'before', value: '2024/01/08' },
        ],
      },
      ['a2', 'a3'],
    ],
    [{ key: 'before', value: '2024/01/07' }, ['a1']],
    [{ key: 'is', value: 'unread' }, ['a1']],
    [{ key: 'is', value: 'starred', negate: true }, ['a1', 'a2', 'a3', 'c1', 'd1']],
    [{ key: 'from', value: 'eve@harbour.example' }, ['a3']],
    [{ key: 'to', value: 'Eve' }, ['a2']],
    [{ key: 'in', value: 'sent' }, ['a3']],
    [{ key: 'has', value: 'attachment' }, ['c1']],
    [
      {
        AND: [
          { key: 'after', value: '2024/01/07' },
          {
            OR: [
              { key: 'label', value: 'Home' },
              {
                AND: [
                  { key: 'in', value: 'inbox' },
                  { key: 'from', value: 'ben@harbour.example' },
                ],
              },
            ],
          },
        ],
      },
      ['a2', 'b1'],
    ],
  ];
  test.each(MATCHES)('matches the expected messages: %j', async (filter, ids) => {
    fill();
    expect(await found(filter)).toEqual(ids);
  });
});

describe('content', () => {
  test('is the raw message with its position in the thread', async () => {
    fill();
    const first = await account.open('a1', NEVER);
    expect(first).toMatchObject({ contentType: 'message/rfc822', format: 'GMAIL', attachmentsOnRequest: true });
    expect(Buffer.from(first.bytes).toString()).toContain('It was lit in 1901.');
    expect(first.fileMetadata).toMatchObject({
      is_message: true,
      start_of_thread: true,
      root_external_file_id: 'a1',
      parent_external_file_id: null,
    });
    expect((await account.open('a3', NEVER)).fileMetadata).toMatchObject({
      start_of_thread: false,
      root_external_file_id: 'a1',
      parent_external_file_id: 'a2',
      labels: ['SENT'],
    });
  });

  test('is rejected for trash, labels, missing messages and messages above the size limit', async () => {
    fill();
    gmail.mails['long'] = { labels: [], text: 'a'.repeat(2_000_000) };
    for (const [id, kind] of [
      ['t1', 'not_found'],
      ['label:INBOX', 'not_found'],
      ['nothing', 'not_found'],
      ['long', 'too_large'],
    ] as const)
      expect(await faultOf(account.open(id, NEVER))).toMatchObject({ kind });
  });
});

describe('refusals', () => {
  test.each([
    [403, 'userRateLimitExceeded'],
    [429, 'rateLimitExceeded'],
  ])('of HTTP %s %s are rate limits until the time in their message', async (status, reason) => {
    const until = new Date(Date.now() + 3_600_000).toISOString();
    gmail.injectFault(() => ({ status, reason, message: `User-rate limit exceeded.  Retry after ${until}` }));
    const fault = await faultOf(account.identify(NEVER));
    expect(fault.kind).toBe('rate_limited');
    expect(fault.retryAfterMs).toBeGreaterThan(3_500_000);
  });

  test('of a user without a mailbox are access_denied, not an error of the configuration', async () => {
    gmail.injectFault(() => ({ status: 400, reason: 'failedPrecondition', message: 'Mail service not enabled' }));
    expect(await faultOf(account.identify(NEVER))).toMatchObject({ kind: 'access_denied' });
  });

  test('of an id that no message can have are not found', async () => {
    gmail.injectFault((path) =>
      /\/(?:messages|threads)\//.test(path)
        ? { status: 400, reason: 'invalidArgument', message: 'Invalid id value' }
        : null,
    );
    for (const id of ['nothing', 'thread:nothing'])
      expect(await faultOf(account.listDescendants(id, null, NEVER))).toMatchObject({ kind: 'not_found' });
    expect(await faultOf(account.open('nothing', NEVER))).toMatchObject({ kind: 'not_found' });
  });

  test('of an API that the operator has not enabled are not_configured, so that no message counts as deleted', async () => {
    fill();
    const start = await account.changes!.now(NEVER);
    gmail.mails['a2']!.labels = ['Label_2'];
    gmail.injectFault((path) =>
      /\/(?:messages|threads)\//.test(path) ? { status: 403, reason: 'accessNotConfigured' } : null,
    );
    for (const call of [account.open('a1', NEVER), account.changes!.since(start, NEVER)])
      expect(await faultOf(call)).toMatchObject({ kind: 'not_configured' });
  });

  test('of a token are access_revoked if it has expired, and access_denied if its scope excludes message bodies', async () => {
    const { accessToken } = gmail.oauth.grant('ada@harbour.example', [
      'https://www.googleapis.com/auth/gmail.metadata',
    ]);
    const other = grantedAccount('GMAIL', gmail.settings, accessToken, egress);
    expect(await faultOf(other.identify(NEVER))).toMatchObject({ kind: 'access_denied' });
    expect(await account.identify(NEVER)).toMatchObject({ account: 'ada@harbour.example' });
    gmail.oauth.expireAll();
    expect(await faultOf(account.identify(NEVER))).toMatchObject({ kind: 'access_revoked' });
  });

  test('reports responses without the required fields as server errors', async () => {
    gmail.injectFault(() => ({ status: 200 }));
    expect(await faultOf(account.open('a1', NEVER))).toMatchObject({ kind: 'server_error' });
    expect(await faultOf(account.identify(NEVER))).toMatchObject({ kind: 'server_error' });
    expect(await faultOf(account.listDescendants('a1', null, NEVER))).toMatchObject({ kind: 'server_error' });
  });
});

describe('changes', () => {
  const changes = () => {
    if (!account.changes) throw new Error('no feed');
    return account.changes;
  };
  async function readChanges(from: string) {
    const changed = new Set<string>();
    let cursor = from;
    for (let more = true; more;) {
      const page = await changes().since(cursor, NEVER);
      for (const change of page.changes) changed.add('gone' in change ? `-${change.gone}` : change.item.externalId);
      cursor = page.next;
      more = page.more;
    }
    return { changed: [...changed].toSorted(), cursor };
  }

  test('report new, relabelled and deleted messages of all pages', async () => {
    fill();
    let { changed, cursor } = await readChanges(await changes().now(NEVER));
    expect(changed).toEqual([]);
    gmail.labels['Label_3'] = 'New';
    gmail.mails['new'] = { labels: ['INBOX', 'Label_3'] };
    gmail.mails['a2']!.labels = ['Label_2'];
    gmail.mails['b1']!.labels = ['TRASH'];
    gmail.mails['s1']!.labels = ['INBOX'];
    delete gmail.mails['a3'];
    ({ changed, cursor } = await readChanges(cursor));
    // A page with changed messages also has the folders of all labels: Gmail's history reports no changed labels.
    const labels = ['label:INBOX', 'label:Label_1', 'label:Label_2', 'label:Label_3', 'label:SENT'];
    expect(changed).toEqual(['-a3', '-b1', 'a2', ...labels, 'new', 's1']);
    ({ changed, cursor } = await readChanges(cursor));
    expect(changed).toEqual([]);
  });

  const RELABELLED: readonly (readonly [string, string, readonly string[], string])[] = [
    ['added', 'a2', ['INBOX', 'Label_2'], 'label:Label_2'],
    ['removed', 'a1', ['INBOX', 'UNREAD'], 'label:INBOX'],
  ];
  test.each(RELABELLED)('report a message with a label %s, with its new folder', async (_kind, id, labels, folder) => {
    fill();
    const cursor = await changes().now(NEVER);
    gmail.mails[id]!.labels = [...labels];
    const page = await changes().since(cursor, NEVER);
    const items = page.changes.flatMap((change) => ('item' in change ? [change.item] : []));
    expect(items.find(({ externalId }) => externalId === id)).toMatchObject({ parentExternalId: folder });
  });

  test.each(['', '{}', '{"start":"x"}', '{"start":1}'])('report the invalid cursor %s as stale', async (cursor) => {
    expect(await faultOf(changes().since(cursor, NEVER))).toMatchObject({ kind: 'stale_cursor' });
  });

  test('report a cursor older than the history of Gmail as stale', async () => {
    fill();
    const cursor = await changes().now(NEVER);
    gmail.history.discardRecords();
    expect(await faultOf(changes().since(cursor, NEVER))).toMatchObject({ kind: 'stale_cursor' });
  });
});

test('never treats a broken response as the end of a list', async () => {
  fill();
  const list = async () => [
    (await readListing((cursor) => account.listRoots(cursor, NEVER))).items,
    (await descendantsOf('label:Label_1')).items,
  ];
  expect(await acceptedBrokenAnswers(gmail, list)).toEqual([]);
});
