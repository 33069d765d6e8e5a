import { nextRequests } from '../../emulators/emulator.js';
import { ORGANIZATION_HOST, type SalesforceEmulator, sfId, startSalesforce } from '../../emulators/salesforce.js';
import type { SoqlRecord } from '../../emulators/soql.js';
import { lastToken, fixtureByConsent } from './byConsent.js';
import { KEEPER_SENTENCE, LIGHTHOUSE, moreDocuments, OTHERS, type SourceFixture, fixtureOn } from './fixture.js';

/** A fixture that also exposes its emulator, for tests of behaviour that only this source has. */
export type SalesforceFixture = SourceFixture & { readonly emulator: SalesforceEmulator };

const LIBRARIES = ['atlas', ...OTHERS] as const;
/** Name of a file outside all libraries. */
const FILE_WITHOUT_LIBRARY = 'flags';
/** Object types of an organization without Salesforce Knowledge: libraries and files, but no articles. */
const KINDS = ['ContentWorkspace', 'ContentFolder', 'ContentFolderItem', 'ContentDocument'];
const CREATED = '2026-01-07T09:00:00.000+0000';

export async function fixtureForSalesforce(): Promise<SalesforceFixture> {
  const emulator = await startSalesforce();
  const { records, contents, oauth, put } = emulator;
  const rootOf = (library: string): string => sfId('07H', `root${library}`);
  let versions = 0;
  const olderVersions = new Map<string, string[]>();
  const writeVersion = (content: string): SoqlRecord => {
    versions += 1;
    const version = sfId('068', `v${versions}`);
    contents.set(version, content);
    return { LatestPublishedVersionId: version, LatestPublishedVersion: { ContentLocation: 'S' } };
  };
  const putFile = (
    name: string,
    content: string,
    library: string | null,
    folder = library && rootOf(library),
  ): void => {
    const id = sfId('069', name);
    const about = { Title: `About ${name}`, FileExtension: 'md', FileType: 'UNKNOWN', CreatedDate: CREATED };
    put('ContentDocument', id, { ...about, ParentId: library && sfId('058', library), ...writeVersion(content) });
    if (folder !== null)
      put('ContentFolderItem', id, { Title: about.Title, IsFolder: false, ParentContentFolderId: folder });
  };
  const putFolder = (name: string, parent: string): string => {
    const id = sfId('07H', name);
    put('ContentFolder', id, { Name: name, ParentContentFolderId: parent });
    put('ContentFolderItem', id, { Title: name, IsFolder: true, ParentContentFolderId: parent });
    return id;
  };
  const idIn = (externalId: string): string => externalId.split(/[:/]/)[1] ?? '';
  const versionOf = (externalId: string): string =>
    records.get('ContentDocument')?.get(idIn(externalId))?.['LatestPublishedVersionId'] as string;
  const contentOf = (version: string) => (path: string) =>
    path.endsWith(`/sobjects/ContentVersion/${version}/VersionData`);
  return {
    emulator,
    ...fixtureOn(emulator),
    ...fixtureByConsent('SALESFORCE', emulator),
    get secret() {
      return lastToken(oauth);
    },
    settings: emulator.settings,
    externalId: `SALESFORCE|ada@harbour.example|${ORGANIZATION_HOST}`,
    reset(more = 0) {
      records.clear();
      contents.clear();
      olderVersions.clear();
      for (const kind of KINDS) records.set(kind, new Map());
      for (const library of LIBRARIES)
        put('ContentWorkspace', sfId('058', library), { Name: library, RootContentFolderId: rootOf(library) });
      const sights = putFolder('sights', rootOf('atlas'));
      putFile('lighthouse', LIGHTHOUSE, 'atlas', sights);
      putFile('keeper', KEEPER_SENTENCE, 'atlas', putFolder('people', sights));
      for (const name of OTHERS) putFile(name, `On ${name}.`, name);
      putFile(FILE_WITHOUT_LIBRARY, `On ${FILE_WITHOUT_LIBRARY}.`, null);
      for (const [name, text] of moreDocuments(more, (id, content) => [id, content] as const))
        putFile(name, text, 'atlas');
      emulator.reset();
      return {
        containers: [...LIBRARIES.map((library) => `library:${sfId('058', library)}`), 'files'],
        lighthouse: `file:${sfId('069', 'lighthouse')}`,
        keeper: `file:${sfId('069', 'keeper')}`,
        branch: `folder:${sights}`,
        others: [...OTHERS, FILE_WITHOUT_LIBRARY].map((name) => `file:${sfId('069', name)}`),
        items: 15 + more,
        format: 'MD',
      };
    },
    write(externalId, text) {
      const id = idIn(externalId);
      olderVersions.set(id, [...(olderVersions.get(id) ?? []), versionOf(externalId)]);
      put('ContentDocument', id, { ...records.get('ContentDocument')?.get(id), ...writeVersion(text) });
    },
    remove(externalId) {
      for (const kind of ['ContentDocument', 'ContentFolderItem']) emulator.drop(kind, idIn(externalId));
    },
    limit(requests, retryAfterS = 0) {
      // Alternates between the daily quota and a concurrency limit.
      const refusal = (number: number) => ({
        ...(number % 2 === 0 ? { status: 403, errorCode: 'REQUEST_LIMIT_EXCEEDED' } : { status: 429 }),
        headers: { 'retry-after': String(retryAfterS) },
      });
      emulator.injectFault(nextRequests(requests, refusal));
    },
    contentRequests(externalId) {
      const versionIds = [...(olderVersions.get(idIn(externalId)) ?? []), versionOf(externalId)];
      return versionIds.reduce((sum, version) => sum + emulator.requests.filter(contentOf(version)).length, 0);
    },
    breakItem(externalId, status) {
      const isContent = contentOf(versionOf(externalId));
      emulator.injectFault((path) => (isContent(path) ? { status } : null));
    },
    pagesListed: () => emulator.queries.filter((query) => query.includes('FROM ContentWorkspace')).length,
  };
}
