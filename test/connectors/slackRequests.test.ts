/**
 * The number of requests to Slack. Apps that are distributed outside its Marketplace have one request for history per
 * minute: https://docs.slack.dev/changelog/2025/05/29/rate-limit-changes-for-non-marketplace-apps
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import type { Account } from '../../connectors/account.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import { createConnectors } from '../../connectors/registry.js';
import { slack as connector } from '../../connectors/slack/index.js';
import type { Message } from '../../connectors/slack/message.js';
import { WindowCache, type Windows } from '../../connectors/slack/windowCache.js';
import type { Egress } from '../../egress/types.js';
import { type EmulatedMessage, type SlackEmulator, startSlack, TEAM } from '../emulators/slack.js';
import { listItems, loopbackEgress, NEVER, versionsOf } from './account.js';

const NOW = Math.floor(Date.now() / 1000);
const QUARTER = Math.floor((NOW - 60 * 86_400) / 900) * 900;
const DAY = 86_400;
let egress: Egress;
let slack: SlackEmulator;
let account: Account;

beforeAll(async () => {
  egress = loopbackEgress();
  slack = await startSlack({ perPage: 200 });
});
afterAll(async () => {
  await egress.close();
  await slack.close();
});
beforeEach(() => {
  slack.reset();
  slack.conversations.clear();
  slack.users.set('U0ADA', 'Ada');
  const { accessToken } = slack.oauth.grant('U0ADA', connector.oauth?.scopes ?? []);
  const connectors = createConnectors({ egress, urls: readSourceUrls(slack.settings), maxItemBytes: 1_000_000 });
  account = connectors.account('SLACK', accessToken, JSON.stringify({ accessToken, facts: { team: TEAM } }));
});

const postMessages = (messages: EmulatedMessage[]): void =>
  void slack.conversations.set('C1', { name: 'harbour', type: 'public_channel', messages });
const descendantsOf = () => listItems((cursor) => account.listDescendants('C1', cursor, NEVER));
const requestsOf = (method: string): string[] => slack.calls.filter((request) => request.startsWith(method));
const open = async (externalId: string, version: string | null): Promise<string> =>
  Buffer.from((await account.open(externalId, NEVER, { version })).bytes).toString();
const at = (seconds: number, more: Partial<EmulatedMessage> = {}): EmulatedMessage => ({
  ...{ text: `At ${seconds}.`, ts: `${QUARTER + seconds}.000100` },
  ...more,
});

/** Opens the listed windows concurrently, newest first as a sync does. Returns their texts by id. */
async function openAll(atOnce: number): Promise<Map<string, string>> {
  const items = (await descendantsOf()).filter(({ hasContent }) => hasContent);
  slack.calls.length = 0;
  const texts = new Map<string, string>();
  const worker = async (): Promise<void> => {
    for (let item = items.shift(); item !== undefined; item = items.shift())
      texts.set(item.externalId, await open(item.externalId, item.version));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return texts;
}

test.each([1, 8])(
  'opens 2,000 windows of 15 minutes, %d at once, with at most 11 requests for pages of 200 messages',
  async (atOnce) => {
    postMessages(Array.from({ length: 2_000 }, (_, index) => at(index * 900)));
    const texts = await openAll(atOnce);
    expect(texts.size).toBe(2_000);
    for (const index of [0, 1, 199, 200, 1_999])
      expect(texts.get(`C1/${QUARTER + index * 900}`)).toMatch(new RegExp(`: At ${index * 900}\\.$`));
    // The last window of a page may continue on the next page, so it is read again.
    expect(requestsOf('conversations.history').length).toBeLessThanOrEqual(11);
  },
);

test('reads a window completely whose messages span pages, also between threads and system messages', async () => {
  const messages = Array.from({ length: 450 }, (_, index) => at(index * 2));
  postMessages([
    ...messages,
    ...Array.from({ length: 300 }, (_, index) => at(-900 + index, { more: { subtype: 'channel_join' } })),
    at(-1_000),
    at(-990, { thread: at(-1_000).ts }),
    at(-1_100),
  ]);
  const texts = await openAll(1);
  expect(texts.get(`C1/${QUARTER}`)?.split('\n\n')).toHaveLength(450);
  expect(texts.get(`C1/${QUARTER - 1_800}`)).toMatch(/: At -1100\.$/);
});

test('requests a window again if its listed version differs from that of its cached messages', async () => {
  const messages = [at(0), at(900), at(1_800)];
  postMessages(messages);
  await openAll(1);
  expect(requestsOf('conversations.history')).toHaveLength(1);
  messages[1]!.text = 'Changed.';
  messages[1]!.edited = true;
  const id = `C1/${QUARTER + 900}`;
  const version = versionsOf(await descendantsOf())[id]!;
  slack.calls.length = 0;
  expect(await open(id, version)).toMatch(/: Changed\.$/);
  expect(requestsOf('conversations.history')).toHaveLength(1);
  // Without a version, nothing that was read before is used.
  expect(await open(id, null)).toMatch(/: Changed\.$/);
  expect(requestsOf('conversations.history')).toHaveLength(2);
});

test('caches the windows of the conversations that were read last, up to a total size', () => {
  const message = { text: 'x'.repeat(500) } as Message;
  const page = (start: number): Windows => new Map([[start, [message]]]);
  const cache = new WindowCache(10_000);
  for (let number = 0; number < 100; number += 1) cache.add(`C${number}`, page(number));
  const cached = Array.from({ length: 100 }, (_, number) => cache.pagesOf(`C${number}`)).filter(({ length }) => length);
  expect(cached).toEqual([91, 92, 93, 94, 95, 96, 97, 98, 99].map((number) => [page(number)]));
  // Of one conversation, the last pages are kept.
  for (let number = 0; number < 6; number += 1) cache.add('C99', page(number));
  expect(cache.pagesOf('C99')).toEqual([5, 4, 3, 2].map(page));
  expect(cache.pagesOf('C91')).toEqual([]);
});

test('a failed request does not fail the windows that wait for it', async () => {
  postMessages([at(0), at(900)]);
  const [newest, oldest] = (await descendantsOf()).filter(({ hasContent }) => hasContent);
  let failures = 1;
  slack.injectFault(() => (failures-- > 0 ? { status: 200, error: 'channel_not_found' } : null));
  const [first, second] = await Promise.allSettled(
    [newest!, oldest!].map(({ externalId, version }) => open(externalId, version)),
  );
  expect([first!.status, second!.status].toSorted()).toEqual(['fulfilled', 'rejected']);
});

test('changes the version of a thread after a new or removed reply; the version is null until the last reply is two weeks old', async () => {
  const first = at(0);
  const messages = [first, at(10, { thread: first.ts })];
  postMessages(messages);
  const id = `C1/${first.ts}`;
  const versionNow = async () => versionsOf(await descendantsOf())[id];
  const version = await versionNow();
  expect(version).not.toBeNull();
  expect(await versionNow()).toBe(version);
  messages.push(at(20, { thread: first.ts }));
  expect(await versionNow()).not.toBe(version);
  messages.pop();
  expect(await versionNow()).toBe(version);
  // A recent reply may still be edited, which the history does not show.
  messages.push({ text: 'Now.', ts: `${NOW - 13 * DAY}.000100`, thread: first.ts });
  expect(await versionNow()).toBeNull();
});

test('names the workspace when it lists conversations, which tokens of a whole organization need', async () => {
  postMessages([]);
  await account.listRoots(null, NEVER);
  expect(requestsOf('conversations.list')[0]).toContain(`team_id=${TEAM}`);
});
