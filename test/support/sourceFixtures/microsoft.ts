/** Fixtures of the Microsoft sources, each on its own emulator. */
import { nextRequests } from '../../emulators/emulator.js';
import { type GraphEmulator, startGraph } from '../../emulators/graph/index.js';
import { CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { siteId } from '../../emulators/graph/sites.js';
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
export type MicrosoftFixture = SourceFixture & { readonly graph: GraphEmulator };

type MicrosoftSource = 'ONEDRIVE' | 'OUTLOOK' | 'SHAREPOINT';
const RECEIVED = '2026-01-07T09:00:00Z';

/**
 * Returns the members that are common to all Microsoft fixtures.
 * @param fields further fields of the request that connects the account
 */
function fixtureOnGraph(
  graph: GraphEmulator,
  source: MicrosoftSource,
  fields: Record<string, string>,
): Omit<SourceFixture, 'externalId' | 'secret' | 'reset' | 'write' | 'remove' | 'breakItem' | 'pagesListed'> {
  const byConsent = fixtureByConsent(source, { ...graph, oauth: graph.provider });
  return {
    ...fixtureOn(graph),
    settings: graph.settingsOf(source),
    ...byConsent,
    connect: (user, body = {}) => byConsent.connect(user, { ...fields, ...body }),
    allSecrets: () => [...graph.provider.secrets, CLIENT_SECRET],
    limit(requests, retryAfterS = 0) {
      graph.injectFault(
        nextRequests(requests, (number) => ({
          status: number % 3 === 0 ? 503 : 429,
          headers: { 'retry-after': String(retryAfterS) },
        })),
      );
    },
  };
}

const driveOf = (container: string): string => `b!${container}`;

/** Fills the drives with the content that every fixture has, and `more` further documents. */
function fillDrives({ drives, ownDrives }: GraphEmulator, more: number): void {
  drives.all.clear();
  ownDrives.splice(0, Number.POSITIVE_INFINITY, ...CONTAINERS.map(driveOf));
  for (const name of CONTAINERS) drives.add(driveOf(name), `Drive ${name}`);
  for (const name of OTHERS) drives.put(driveOf(name), `${name}.md`, { content: `On ${name}.` });
  const atlas = driveOf('atlas');
  drives.put(atlas, 'sights/lighthouse.md', { content: LIGHTHOUSE });
  drives.put(atlas, 'sights/people/keeper.md', { content: KEEPER_SENTENCE });
  // Packages, such as OneNote notebooks, do not become files.
  drives.put(atlas, 'sights/Notes', { package: true });
  for (const [name, content] of moreDocuments(more, (file, text) => [`${file}.md`, text] as const))
    drives.put(atlas, name, { content });
}

function driveFixture(graph: GraphEmulator, source: MicrosoftSource, fields: Record<string, string>) {
  const idsOf = (externalId: string): [drive: string, item: string] => {
    const slash = externalId.indexOf('/');
    return [externalId.slice(0, slash), externalId.slice(slash + 1)];
  };
  return {
    ...fixtureOnGraph(graph, source, fields),
    write: (externalId: string, text: string) => graph.drives.write(...idsOf(externalId), text),
    remove: (externalId: string) => graph.drives.remove(...idsOf(externalId)),
    contentRequests(externalId: string) {
      const [drive, item] = idsOf(externalId);
      const contentPath = `/v1.0/drives/${drive}/items/${item}/content`;
      return graph.requests.filter((request) => decodeURIComponent(request) === contentPath).length;
    },
    breakItem(externalId: string, status: number) {
      const [drive, item] = idsOf(externalId);
      const where = `/v1.0/drives/${drive}/items/${item}/content`;
      graph.injectFault((path) => (decodeURIComponent(path) === where ? { status } : null));
    },
  };
}

const CONTENT = {
  lighthouse: 'b!atlas/sights.lighthouse.md',
  keeper: 'b!atlas/sights.people.keeper.md',
  branch: 'b!atlas/sights',
  others: OTHERS.map((name) => `${driveOf(name)}/${name}.md`),
  format: 'MD',
};

export async function fixtureForOneDrive(): Promise<MicrosoftFixture> {
  const graph = await startGraph();
  return {
    graph,
    ...driveFixture(graph, 'ONEDRIVE', {}),
    get secret() {
      return lastToken(graph.provider);
    },
    externalId: 'ONEDRIVE|ada@harbour.example',
    reset(more = 0) {
      fillDrives(graph, more);
      graph.reset();
      return { ...CONTENT, containers: CONTAINERS.map(driveOf), items: 14 + more };
    },
    pagesListed: () => graph.requests.filter((path) => path.startsWith('/v1.0/me/drives')).length,
  };
}

export async function fixtureForSharePoint(): Promise<MicrosoftFixture> {
  const graph = await startGraph();
  const site = 'Harbour';
  return {
    graph,
    ...driveFixture(graph, 'SHAREPOINT', { microsoft_tenant: 'harbour.example', sharepoint_site_name: site }),
    get secret() {
      return lastToken(graph.provider);
    },
    externalId: `SHAREPOINT|ada@harbour.example|harbour/${site}`,
    reset(more = 0) {
      fillDrives(graph, more);
      graph.sites.set('', { id: siteId(0), displayName: 'Root', drives: [], pages: new Map() });
      graph.sites.set(`sites/${site}`, {
        id: siteId(1),
        displayName: site,
        drives: CONTAINERS.map(driveOf),
        pages: new Map(),
      });
      graph.reset();
      return { ...CONTENT, containers: [...CONTAINERS.map(driveOf), 'pages'], items: 15 + more };
    },
    pagesListed: () =>
      graph.requests.filter((path) => decodeURIComponent(path).startsWith(`/v1.0/sites/${siteId(1)}/drives`)).length,
  };
}

export async function fixtureForOutlook(): Promise<MicrosoftFixture> {
  const graph = await startGraph();
  const { mailbox } = graph;
  const put = (id: string, folder: string, text: string, fields: object = {}): void =>
    mailbox.put(id, { folder, subject: `About ${id}`, text, received: RECEIVED, ...fields });
  return {
    graph,
    ...fixtureOnGraph(graph, 'OUTLOOK', {}),
    get secret() {
      return lastToken(graph.provider);
    },
    externalId: 'OUTLOOK|ada@harbour.example',
    reset(more = 0) {
      mailbox.clear();
      for (const name of CONTAINERS) mailbox.folders.set(name, { name: `Folder ${name}`, parent: null });
      mailbox.folders.set('bin', { name: 'Deleted Items', parent: null, wellKnown: 'deleteditems' });
      mailbox.folders.set('sights', { name: 'Sights', parent: 'atlas' });
      for (const name of OTHERS) put(`${name}-1`, name, `On ${name}.`);
      put('lighthouse', 'sights', LIGHTHOUSE);
      // Attachments are listed, but do not become files.
      put('keeper', 'sights', KEEPER_SENTENCE, { attachments: { portrait: { name: 'portrait.png', content: 'PNG' } } });
      for (const [name, text] of moreDocuments(more, (id, content) => [id, content] as const)) put(name, 'atlas', text);
      graph.reset();
      return {
        containers: CONTAINERS.map((name) => `folder:${name}`),
        lighthouse: 'lighthouse',
        keeper: 'keeper',
        branch: 'folder:sights',
        others: OTHERS.map((name) => `${name}-1`),
        items: 13 + more,
      };
    },
    write: (externalId, text) => mailbox.write(externalId, text),
    remove: (externalId) => mailbox.remove(externalId),
    contentRequests: (externalId) =>
      graph.requests.filter((path) => path.split('?')[0] === `/v1.0/me/messages/${externalId}`).length,
    breakItem: (externalId, status) =>
      graph.injectFault((path) => (path === `/v1.0/me/messages/${externalId}` ? { status } : null)),
    pagesListed: () => graph.requests.filter((path) => path.startsWith('/v1.0/me/mailFolders?')).length,
  };
}
