import { nextRequests } from '../../emulators/emulator.js';
import { type GongEmulator, startGong } from '../../emulators/gong.js';
import type { TestUser } from '../client.js';
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

/** A fixture that also exposes its emulator, for tests of behaviour that only this source has. */
export interface GongFixture extends SourceFixture {
  readonly gong: GongEmulator;
}

export const GONG_EMAIL = 'Ada@Harbour.example';

export async function fixtureForGong(): Promise<GongFixture> {
  const gong = await startGong();
  const { workspaces, folders, calls, oauth } = gong;
  const byConsent = fixtureByConsent('GONG', gong);
  const passages = (text: string) => [{ speaker: '1', text }];
  // The calls are recent: a sync reads transcripts of unchanged calls again only if the calls are recent.
  const started = new Date().toISOString();
  return {
    ...fixtureOn(gong),
    ...byConsent,
    gong,
    connect: (user: TestUser, body = {}) => byConsent.connect(user, { gong_account_email: GONG_EMAIL, ...body }),
    hold: (only = '') => gong.injectFault((request) => (request.includes(only) ? 'hang' : null)),
    get secret() {
      return lastToken(oauth);
    },
    settings: gong.settings,
    externalId: `GONG|${GONG_EMAIL.toLowerCase()}`,
    reset(more = 0) {
      for (const map of [workspaces, folders, calls]) map.clear();
      for (const [index, name] of CONTAINERS.entries()) workspaces.set(String(index + 1), name);
      for (const [index, name] of OTHERS.entries())
        calls.set(String(20 + index), {
          title: `About ${name}`,
          workspace: String(index + 2),
          started,
          monologues: passages(`On ${name}.`),
        });
      calls.set('100', { title: 'Lighthouse', workspace: '1', started, monologues: passages(LIGHTHOUSE) });
      calls.set('101', { title: 'Keeper', workspace: '1', started, monologues: passages(KEEPER_SENTENCE) });
      folders.set('11', { name: 'Sights', workspace: '1', calls: ['100'] });
      folders.set('12', { name: 'People', workspace: '1', parent: '11', calls: ['101'] });
      for (const [name, text] of moreDocuments(more, (title, content) => [title, content]))
        calls.set(String(1_000 + Number(name.slice(1))), {
          title: name,
          workspace: '1',
          started,
          monologues: passages(text),
        });
      gong.reset();
      return {
        containers: CONTAINERS.map((_name, index) => `workspace:${index + 1}`),
        lighthouse: '100',
        keeper: '101',
        branch: 'folder:11',
        others: OTHERS.map((_name, index) => String(20 + index)),
        items: 13 + more,
      };
    },
    write(externalId, text) {
      calls.set(externalId, { ...calls.get(externalId)!, monologues: passages(text) });
    },
    remove(externalId) {
      calls.delete(externalId);
      for (const folder of folders.values()) folder.calls = folder.calls.filter((id) => id !== externalId);
    },
    limit: (requests, retryAfterS = 0) =>
      gong.injectFault(
        nextRequests(requests, () => ({ status: 429, headers: { 'retry-after': String(retryAfterS) } })),
      ),
    breakItem: (externalId, status) =>
      gong.injectFault((request) =>
        request.startsWith('calls/transcript ') && request.includes(`"${externalId}"`) ? { status } : null,
      ),
    pagesListed: () => gong.requests.filter((request) => request.startsWith('calls?')).length,
  };
}
