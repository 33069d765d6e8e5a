import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import type { Account } from '../../connectors/account.js';
import { createConnectors } from '../../connectors/registry.js';
import { paragraphOf, presentConversation } from '../../connectors/slack/adapter.js';
import { slack as connector } from '../../connectors/slack/index.js';
import { mentionedIn, plainText, readMessage } from '../../connectors/slack/message.js';
import { close, groupMessages } from '../../connectors/slack/windows.js';
import { secondsOf, parseSlackItemId } from '../../contract/sources/slackIds.js';
import type { Egress } from '../../egress/types.js';
import { type EmulatedMessage, type SlackEmulator, startSlack } from '../emulators/slack.js';
import { acceptedBrokenAnswers } from './brokenAnswers.js';
import { listItems, loopbackEgress, NEVER, textOf } from './account.js';

/** 2026-03-04 10:15:00. */
const QUARTER = 1_772_619_300;
let egress: Egress;
let slack: SlackEmulator;
let account: Account;

const accountWith = (scopes: readonly string[]): Account => {
  const { accessToken } = slack.oauth.grant('U0ADA', scopes);
  const connectors = createConnectors({ egress, urls: readSourceUrls(slack.settings), maxItemBytes: 1_000_000 });
  return connectors.account('SLACK', accessToken, JSON.stringify({ accessToken, facts: {} }));
};

beforeAll(async () => {
  egress = loopbackEgress();
  slack = await startSlack();
});
afterAll(async () => {
  await egress.close();
  await slack.close();
});
beforeEach(() => {
  slack.reset();
  slack.conversations.clear();
  slack.users.clear();
  slack.users.set('U0ADA', 'Ada').set('U0BEN', 'Ben');
  account = accountWith(connector.oauth?.scopes ?? []);
});

const postMessages = (...messages: EmulatedMessage[]): void =>
  void slack.conversations.set('C1', { name: 'harbour', type: 'public_channel', messages });
const at = (seconds: number, more: Omit<EmulatedMessage, 'ts' | 'text'> & { text?: string } = {}): EmulatedMessage => ({
  text: `At ${seconds}.`,
  ...more,
  ts: `${QUARTER + seconds}.000100`,
});

const descendantsOf = (externalId: string) => listItems((cursor) => account.listDescendants(externalId, cursor, NEVER));
const read = (externalId: string) => textOf(account, externalId);

describe('windows and threads', () => {
  test('lists a file for each quarter of an hour and for each thread', async () => {
    postMessages(
      at(-1),
      at(0),
      at(899),
      at(900, { user: 'U0BEN' }),
      // A thread with replies hours later, one of which is also sent to the channel.
      at(10, { text: 'Who keeps the light?' }),
      at(7_200, { text: 'Aurelia.', user: 'U0BEN', thread: `${QUARTER + 10}.000100` }),
      at(7_260, { text: 'Thanks!', thread: `${QUARTER + 10}.000100`, more: { subtype: 'thread_broadcast' } }),
      at(5_000, { text: 'has joined', more: { subtype: 'channel_join' } }),
    );
    const items = await descendantsOf('C1');
    expect(items.map(({ externalId }) => externalId)).toEqual([
      'C1',
      `C1/${QUARTER + 900}`,
      `C1/${QUARTER + 10}.000100`,
      `C1/${QUARTER}`,
      `C1/${QUARTER - 900}`,
    ]);
    expect(items[2]).toMatchObject({
      name: 'Who keeps the light?',
      parentExternalId: 'C1',
      rootExternalId: 'C1',
      externalUrl: `https://harbour.slack.com/archives/C1/p${QUARTER + 10}000100`,
      createdAt: '2026-03-04T10:15:10.000Z',
      version: expect.stringMatching(/^[\w-]{22}$/),
    });
    expect(JSON.parse(items[3]?.name ?? '')).toEqual({ after: QUARTER, before: QUARTER + 900, conversation: 'C1' });
    expect(await read(`C1/${QUARTER}`)).toBe('Ada, 2026-03-04 10:15: At 0.\n\nAda, 2026-03-04 10:29: At 899.');
    expect(await read(`C1/${QUARTER + 900}`)).toBe('Ben, 2026-03-04 10:30: At 900.');
    expect(await read(`C1/${QUARTER + 10}.000100`)).toBe(
      'Ada, 2026-03-04 10:15: Who keeps the light?\n\nBen, 2026-03-04 12:15: Aurelia.\n\nAda, 2026-03-04 12:16: Thanks!',
    );
    expect(await account.open(`C1/${QUARTER + 10}.000100`, NEVER)).toMatchObject({
      format: 'SLACK',
      fileMetadata: { type: 'THREAD', is_thread: true, channel_id: 'C1', channel_name: 'harbour' },
    });
    expect((await account.open(`C1/${QUARTER}`, NEVER)).fileMetadata).toEqual({
      type: 'TIME_RANGE',
      is_thread: false,
      channel_id: 'C1',
      channel_name: 'harbour',
      after: QUARTER,
      before: QUARTER + 900,
    });
  });

  test('lists a window once if it spans several pages, and identically if it is listed alone', async () => {
    postMessages(...Array.from({ length: 7 }, (_, index) => at(index * 100)));
    const listing = await descendantsOf('C1');
    expect(listing).toHaveLength(2);
    expect(await descendantsOf(`C1/${QUARTER}`)).toEqual([listing[1]]);
    expect((await read(`C1/${QUARTER}`)).split('\n\n')).toHaveLength(7);
    const versions = new Set([listing[1]?.version]);
    const { messages } = slack.conversations.get('C1')!;
    const versionNow = async () => (await descendantsOf('C1'))[1]?.version;
    messages[3] = { ...messages[3]!, text: 'Changed.', edited: true };
    versions.add(await versionNow());
    messages.pop();
    versions.add(await versionNow());
    messages.push(at(650));
    versions.add(await versionNow());
    expect(versions.size).toBe(4);
    expect(await versionNow()).toBe(await versionNow());
  });

  test('lists from the window that contains the start time', async () => {
    postMessages(at(-901), at(-1), at(0), at(60), at(1_000));
    const ids = async (after: number) => (await descendantsOf(`C1?after=${after}`)).map(({ externalId }) => externalId);
    expect(await ids(QUARTER + 30)).toEqual([`C1/${QUARTER + 900}`, `C1/${QUARTER}`]);
    expect(await ids(QUARTER)).toEqual([`C1/${QUARTER + 900}`, `C1/${QUARTER}`]);
    expect(await ids(QUARTER - 1)).toHaveLength(3);
    expect(await ids(QUARTER + 90_000)).toEqual([]);
  });

  test('continues an open window with the messages of the next page', () => {
    const message = (seconds: number) => readMessage({ ts: `${QUARTER + seconds}.000000`, text: 'a', user: 'U1' })!;
    const first = groupMessages([message(950), message(300)], null);
    expect(first.groups).toMatchObject([{ kind: 'window', window: { start: QUARTER + 900 } }]);
    const second = groupMessages([message(200), message(-1)], first.open);
    expect(second.groups).toMatchObject([{ window: { start: QUARTER, ts: `${QUARTER + 200}.000000` } }]);
    const atOnce = groupMessages([message(300), message(200)], null);
    expect(second.groups).toEqual(close(atOnce.open));
    expect(close(second.open)).toMatchObject([{ window: { start: QUARTER - 900 } }]);
    expect(close(null)).toEqual([]);
  });

  test('moves a message from its window to a thread with its first reply', async () => {
    const thread = `${QUARTER}.000100`;
    postMessages(at(0));
    expect((await descendantsOf('C1')).map(({ externalId }) => externalId)).toEqual(['C1', `C1/${QUARTER}`]);
    await expect(account.open(`C1/${thread}`, NEVER)).rejects.toMatchObject({ kind: 'not_found' });
    postMessages(at(0), at(10, { thread }));
    expect((await descendantsOf('C1')).map(({ externalId }) => externalId)).toEqual(['C1', `C1/${thread}`]);
    await expect(account.open(`C1/${QUARTER}`, NEVER)).rejects.toMatchObject({ kind: 'not_found' });
  });
});

describe('text', () => {
  const nameOf = (id: string) => ({ U1: 'Ada' })[id] ?? id;
  test.each([
    ['<@U1> and <@U2|ben>', '@Ada and @U2'],
    ['in <#C1|general> or <#C2>', 'in #general or #C2'],
    ['<!here> <!subteam^S1|@crew> <!date^1772619300^{date}|tomorrow> <!subteam^S2>', '@here @crew tomorrow @subteam'],
    [
      '<https://a.example/b?c=d&amp;e|the map> <https://a.example>',
      'the map (https://a.example/b?c=d&e) https://a.example',
    ],
    ['<mailto:a@b.example|a@b.example>', 'a@b.example'],
    ['1 &lt; 2 &amp;&amp; 3 &gt; 2, &amp;lt;', '1 < 2 && 3 > 2, &lt;'],
    ['<>', '<>'],
    ['*bold* :wave: `a < b`', '*bold* :wave: `a < b`'],
  ])('converts %s to %s', (text, plain) => {
    expect(plainText(text, nameOf)).toBe(plain);
  });

  test('resolves mentioned users and requests each once', async () => {
    expect(mentionedIn('<@U1> <@W2|x> <#U3> <@u4>')).toEqual(['U1', 'W2']);
    postMessages(at(0, { text: 'Ask <@U0BEN> or <@U0LEFT>.' }), at(10, { user: 'U0BEN' }), at(20, { user: 'U0BEN' }));
    expect(await read(`C1/${QUARTER}`)).toBe(
      [
        'Ada, 2026-03-04 10:15: Ask @Ben or @U0LEFT.',
        'Ben, 2026-03-04 10:15: At 10.',
        'Ben, 2026-03-04 10:15: At 20.',
      ].join('\n\n'),
    );
    await read(`C1/${QUARTER}`);
    const userRequests = slack.calls.filter((request) => request.startsWith('users.info'));
    expect(userRequests.toSorted()).toEqual([
      'users.info?user=U0ADA',
      'users.info?user=U0BEN',
      'users.info?user=U0LEFT',
    ]);
    expect(slack.calls.filter((one) => one.startsWith('conversations.info'))).toHaveLength(1);
  });

  test('reads file names, names of apps, and text in blocks and attachments', () => {
    const ts = '1.000000';
    expect(readMessage({ ts, text: '', files: [{ name: 'map.pdf' }, { title: 'Chart' }, 7] })?.files).toEqual([
      'map.pdf',
      'Chart',
    ]);
    expect(readMessage({ ts, bot_profile: { name: 'Tide' }, text: 'Low.' })).toMatchObject({
      user: null,
      signedAs: 'Tide',
    });
    expect(paragraphOf(readMessage({ ts, text: 'Low.' })!, String)).toBe('Unknown author, 1970-01-01 00:00: Low.');
    const blocks = [
      { type: 'section', text: { type: 'mrkdwn', text: 'High' } },
      { elements: [{ elements: [{ text: 'water' }] }] },
    ];
    expect(readMessage({ ts, text: '', blocks })?.text).toBe('High water');
    expect(
      readMessage({ ts, text: 'See', attachments: [{ title: 'Map', text: 'of it' }, { fallback: 'f' }, null] })?.text,
    ).toBe('See\nMap: of it\nf');
  });

  test.each([null, 7, {}, { ts: 7 }, { ts: '1' }, { ts: '1.0000001' }, { ts: '1.000000', subtype: 'channel_topic' }])(
    'ignores %j, which is not a message',
    (value) => {
      expect(readMessage(value)).toBeNull();
    },
  );
  test('ignores fields of a message with unexpected types', () => {
    expect(
      readMessage({ ts: '1.000000', text: 7, user: [], files: {}, attachments: 'a', edited: 1, blocks: 'b' }),
    ).toMatchObject({
      text: '',
      user: null,
      files: [],
    });
  });
});

test('lists conversations of every type that the token may list, page by page', async () => {
  for (const [id, type] of [
    ['C1', 'public_channel'],
    ['C2', 'public_channel'],
    ['C3', 'public_channel'],
    ['G1', 'private_channel'],
    ['D1', 'im'],
  ] as const)
    slack.conversations.set(id, { type, messages: [], ...(type === 'im' ? { user: 'U0BEN' } : { name: id }) });
  const roots = await listItems((cursor) => account.listRoots(cursor, NEVER));
  expect(roots.map(({ externalId, name }) => [externalId, name])).toEqual([
    ['C1', 'C1'],
    ['C2', 'C2'],
    ['C3', 'C3'],
    ['G1', 'G1'],
    ['D1', 'Ben'],
  ]);
  const few = accountWith(['channels:read', 'channels:history']);
  expect(await listItems((cursor) => few.listRoots(cursor, NEVER))).toHaveLength(3);
  // The account has conversations of a type that the token may not list: they were not deleted.
  const isPartial = async (from: Account): Promise<boolean> => {
    let found = false;
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page: Awaited<ReturnType<Account['listRoots']>> = await from.listRoots(cursor ?? null, NEVER);
      found ||= page.isPartial === true;
      cursor = page.next;
    }
    return found;
  };
  expect([await isPartial(few), await isPartial(account)]).toEqual([true, false]);
  const none = accountWith([]);
  await expect(listItems((cursor) => none.listRoots(cursor, NEVER))).rejects.toMatchObject({ kind: 'access_denied' });
});

test('counts direct messages as private, although Slack marks only channels as private', () => {
  const privacy = (json: object) => presentConversation({ id: 'D1', ...json }, 'Ben')['is_private'];
  expect([{ is_im: true }, { is_mpim: true }, { is_private: true }].map(privacy)).toEqual([true, true, true]);
  expect([{ is_channel: true, is_private: false }, {}].map(privacy)).toEqual([false, false]);
});

test('identifies the account by workspace and user', async () => {
  expect(await account.identify(NEVER)).toEqual({
    account: 'T0HARBOUR:U0ADA',
    metadata: {
      team_id: 'T0HARBOUR',
      user_id: 'U0ADA',
      team_name: 'Harbour',
      user_name: 'Ada',
      url: 'https://harbour.slack.com/',
    },
  });
});

describe('refusals', () => {
  beforeEach(() => postMessages(at(0)));

  test.each([
    ['invalid_auth', 'access_revoked'],
    ['token_revoked', 'access_revoked'],
    ['account_inactive', 'access_revoked'],
    ['missing_scope', 'access_denied'],
    ['not_in_channel', 'access_denied'],
    ['channel_not_found', 'not_found'],
    ['fatal_error', 'server_error'],
    ['team_added_to_org', 'server_error'],
    ['invalid_cursor', 'stale_cursor'],
    ['ratelimited', 'rate_limited'],
    ['whatever_else', 'bad_response'],
  ])('reports %s as %s', async (error, kind) => {
    slack.injectFault(() => ({ status: 200, error, headers: { 'retry-after': '60' } }));
    await expect(account.open(`C1/${QUARTER}`, NEVER)).rejects.toMatchObject({
      kind,
      message: expect.stringContaining(`(${error})`),
    });
  });

  test.each([
    '',
    'nowhere',
    'C1/',
    'C1/1',
    `C1/${QUARTER + 1}`,
    'C1/1.5',
    'C1?after=x',
    'c1',
    'C1&types=im',
    '../C1',
    'C9',
    `C9/${QUARTER}`,
    `C1/${QUARTER + 900}`,
  ])('rejects %j as not found', async (id) => {
    await expect(account.listDescendants(id, null, NEVER)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(account.open(id, NEVER)).rejects.toMatchObject({ kind: 'not_found' });
  });

  test('reports a missing thread as not found, and a conversation as unsupported', async () => {
    await expect(account.open('C1/5.000000', NEVER)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(account.open('C1', NEVER)).rejects.toMatchObject({ kind: 'unsupported_type' });
  });
});

test.each([
  ['2026/03/04', 1_772_582_400],
  ['2026-3-4', 1_772_582_400],
  ['2026-03-04T10:15:00Z', QUARTER],
  ['2026-03-04 10:15', QUARTER],
  ['2026-03-04T11:15:00+01:00', QUARTER],
  [String(QUARTER), QUARTER],
  [`${QUARTER}.5`, QUARTER],
  ['2026/02/31', null],
  ['2026/13/01', null],
  ['2026/00/15', null],
  ['2026-02-30T10:00', null],
  ['2026-02-31 00:00', null],
  ['2024-02-29T00:00+14:00', 1_709_114_400],
  ['yesterday', null],
  ['1969/12/31', null],
  ['2026-03-04T25:15:00Z', null],
  ['-1', null],
  ['99999999999', null],
])('parses %s as the time %s', (text, seconds) => {
  expect(secondsOf(text)).toBe(seconds);
});

test('parses ids of conversations, windows and threads', () => {
  expect(parseSlackItemId('C1')).toEqual({ kind: 'conversation', conversation: 'C1' });
  expect(parseSlackItemId('C1?after=5')).toEqual({ kind: 'since', conversation: 'C1', after: 5 });
  expect(parseSlackItemId('C1/900')).toEqual({ kind: 'window', conversation: 'C1', start: 900 });
  expect(parseSlackItemId('C1/900.000001')).toEqual({ kind: 'thread', conversation: 'C1', ts: '900.000001' });
});

test('never treats a broken response as the end of a list', async () => {
  postMessages(at(0), at(899), at(900, { user: 'U0BEN' }));
  const list = async () => [await listItems((cursor) => account.listRoots(cursor, NEVER)), await descendantsOf('C1')];
  expect(await acceptedBrokenAnswers(slack, list)).toEqual([]);
});
