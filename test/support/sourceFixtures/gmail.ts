import { nextRequests } from '../../emulators/emulator.js';
import { type EmulatedMail, startGmail } from '../../emulators/gmail.js';
import { alternateRateLimits } from '../../emulators/googleApi.js';
import { CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { lastToken, fixtureByConsent } from './byConsent.js';
import {
  CONTAINERS,
  KEEPER_SENTENCE,
  LIGHTHOUSE,
  moreDocuments,
  OTHERS,
  type SourceFixture,
  fixtureOn,
} from './fixture.js';

const labelOf = (name: string): string => `Label_${name}`;

export interface GmailFixture extends SourceFixture {
  /** Messages by id. */
  readonly mails: Record<string, EmulatedMail>;
}

export async function fixtureForGmail(): Promise<GmailFixture> {
  const emulator = await startGmail();
  const { mails, labels } = emulator;
  return {
    ...fixtureOn(emulator),
    ...fixtureByConsent('GMAIL', emulator),
    get secret() {
      return lastToken(emulator.oauth);
    },
    settings: emulator.settings,
    mails,
    externalId: 'GMAIL|ada@harbour.example',
    reset(more = 0) {
      for (const map of [mails, labels]) for (const id of Object.keys(map)) delete map[id];
      for (const name of CONTAINERS) labels[labelOf(name)] = name;
      const atlas = [labelOf('atlas')];
      Object.assign(mails, {
        lighthouse: { labels: atlas, subject: 'Lighthouse', text: LIGHTHOUSE },
        keeper: { labels: atlas, thread: 'lighthouse', subject: 'Keeper', text: KEEPER_SENTENCE },
        ...Object.fromEntries(OTHERS.map((name) => [name, { labels: [labelOf(name)], text: `On ${name}.` }])),
        received: { labels: ['INBOX'] },
        sent: { labels: ['SENT'] },
        archived: { labels: [] },
        ...Object.fromEntries(moreDocuments(more, (name, text) => [name, { labels: atlas, subject: name, text }])),
      });
      emulator.reset();
      return {
        containers: [...CONTAINERS.map((name) => `label:${labelOf(name)}`), 'label:INBOX', 'label:SENT', 'mail.other'],
        lighthouse: 'lighthouse',
        keeper: 'keeper',
        branch: 'thread:lighthouse',
        others: [...OTHERS, 'received', 'sent', 'archived'],
        items: 17 + more,
      };
    },
    write(externalId, text) {
      mails[externalId]!.text = text;
    },
    remove(externalId) {
      delete mails[externalId];
    },
    limit: (requests, retryAfterS) => emulator.injectFault(nextRequests(requests, alternateRateLimits(retryAfterS))),
    allSecrets: () => [...emulator.oauth.secrets, CLIENT_SECRET],
    breakItem(externalId, status) {
      const contentPath = `/gmail/v1/users/me/messages/${externalId}/raw`;
      emulator.injectFault((path) => (path === contentPath ? { status } : null));
    },
    contentRequests: (externalId) =>
      emulator.requests.filter((path) => path.includes(`/messages/${externalId}?format=raw`)).length,
    // One request returns all labels, so this counts the pages of their messages.
    pagesListed: () => emulator.requests.filter((path) => path.startsWith('/gmail/v1/users/me/messages?')).length,
  };
}
