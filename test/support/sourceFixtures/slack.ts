import { idOfThread, idOfWindow, windowOf } from '../../../contract/sources/slackIds.js';
import { nextRequests } from '../../emulators/emulator.js';
import { type EmulatedConversation, startSlack, TEAM } from '../../emulators/slack.js';
import { lastToken, fixtureByConsent } from './byConsent.js';
import { KEEPER_SENTENCE, LIGHTHOUSE, moreDocuments, OTHERS, type SourceFixture, fixtureOn } from './fixture.js';

/** Start of the first time window in seconds: 2026-03-04 10:15 UTC. */
const FIRST_WINDOW = windowOf(1_772_619_300);
const tsOf = (seconds: number): string => `${seconds}.000100`;
const TYPES: Readonly<Record<(typeof OTHERS)[number], EmulatedConversation['type']>> = {
  boats: 'public_channel',
  crews: 'public_channel',
  docks: 'private_channel',
  eels: 'im',
};
const idOf = (name: string): string =>
  `${Object.hasOwn(TYPES, name) && TYPES[name as keyof typeof TYPES] === 'im' ? 'D' : 'C'}${name.toUpperCase()}`;

/**
 * Returns the last second of the time window whose messages a call requests; null for other calls, such as listings.
 */
function lastSecondOf(request: string): number | null {
  if (!request.startsWith('conversations.history?')) return null;
  const [, lastSecond] = /[?&]latest=(\d+)\.999999/.exec(request) ?? [];
  return lastSecond === undefined ? null : Number(lastSecond);
}

export async function fixtureForSlack(): Promise<SourceFixture> {
  const emulator = await startSlack();
  const { conversations, users, oauth } = emulator;
  const messagesOf = (externalId: string) => {
    const [conversation = '', at = ''] = externalId.split('/');
    const { messages } = conversations.get(conversation)!;
    return { messages, index: messages.findIndex(({ ts }) => ts === at || String(windowOf(Number(ts))) === at) };
  };
  return {
    ...fixtureOn(emulator),
    ...fixtureByConsent('SLACK', emulator),
    get secret() {
      return lastToken(oauth);
    },
    settings: emulator.settings,
    externalId: `SLACK|${TEAM}:U0ADA`,
    reset(more = 0) {
      conversations.clear();
      users.set('U0ADA', 'Ada').set('U0BEN', 'Ben');
      const thread = tsOf(FIRST_WINDOW);
      conversations.set(idOf('atlas'), {
        name: 'atlas',
        type: 'public_channel',
        messages: [
          { ts: thread, text: LIGHTHOUSE },
          { ts: tsOf(FIRST_WINDOW + 60), text: 'Who told you, <@U0ADA>?', user: 'U0BEN', thread },
          { ts: tsOf(FIRST_WINDOW + 3_600), text: KEEPER_SENTENCE, user: 'U0BEN' },
          ...moreDocuments(more, (name, text) => [name, text]).map(([, text], index) => ({
            ts: tsOf(FIRST_WINDOW + 7_200 + index * 900),
            text,
          })),
        ],
      });
      for (const name of OTHERS)
        conversations.set(idOf(name), {
          type: TYPES[name],
          ...(TYPES[name] === 'im' ? { user: 'U0BEN' } : { name }),
          messages: [{ ts: tsOf(FIRST_WINDOW), text: `On ${name}.` }],
        });
      emulator.reset();
      return {
        containers: [...conversations.keys()],
        lighthouse: idOfThread(idOf('atlas'), thread),
        keeper: idOfWindow(idOf('atlas'), FIRST_WINDOW + 3_600),
        branch: idOf('atlas'),
        others: OTHERS.map((name) => idOfWindow(idOf(name), FIRST_WINDOW)),
        items: 11 + more,
      };
    },
    write(externalId, text) {
      const { messages, index } = messagesOf(externalId);
      messages[index] = { ...messages[index]!, text, edited: true };
    },
    remove(externalId) {
      const { messages, index } = messagesOf(externalId);
      messages.splice(index, 1);
    },
    limit(requests, retryAfterS = 0) {
      // Alternates between Slack's two rate limit responses: status 429, and status 200 with an error.
      const refusal = (number: number) => ({
        status: number % 2 === 0 ? 429 : 200,
        error: 'ratelimited',
        headers: { 'retry-after': String(retryAfterS) },
      });
      emulator.injectFault(nextRequests(requests, refusal));
    },
    breakItem(externalId, status) {
      const [conversation, start] = externalId.split('/');
      const isRevoked = status === 401;
      const error = isRevoked ? 'token_revoked' : 'not_in_channel';
      emulator.injectFault((request) => {
        const end = lastSecondOf(request);
        if (end === null || !request.includes(`channel=${conversation}`)) return null;
        // Slack lists the newest messages first, so a request that ends in a later window can return messages of this
        // one. With a revoked token it is refused too.
        const isRefused = isRevoked ? end > Number(start) : windowOf(end) === Number(start);
        return isRefused ? { status: 200, error } : null;
      });
    },
    contentRequests(externalId) {
      const [conversation, at = ''] = externalId.split('/');
      const isContent = (request: string): boolean =>
        at.includes('.')
          ? request.startsWith('conversations.replies?') && request.includes(`ts=${at}`)
          : windowOf(lastSecondOf(request) ?? 0) === Number(at);
      return emulator.calls.filter((request) => isContent(request) && request.includes(`channel=${conversation}&`))
        .length;
    },
    pagesListed: () => emulator.requests.filter((path) => path === '/api/conversations.list').length,
  };
}
