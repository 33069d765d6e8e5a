import { nextRequests } from '../../emulators/emulator.js';
import { alternateRateLimits } from '../../emulators/googleApi.js';
import {
  DRIVE_DOCUMENT,
  DRIVE_FOLDER,
  DRIVE_ROOT,
  type GoogleDriveEmulator,
  startGoogleDrive,
} from '../../emulators/googleDrive.js';
import { CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { lastToken, fixtureByConsent } from './byConsent.js';
import { KEEPER_SENTENCE, LIGHTHOUSE, moreDocuments, type SourceFixture, fixtureOn } from './fixture.js';

const SHARED = 'shared.with.me';
const DRIVES = ['crews', 'docks', 'eels', 'flags', 'gulls'];

export type GoogleDriveFixture = SourceFixture & { readonly emulator: GoogleDriveEmulator };

export async function fixtureForGoogleDrive(): Promise<GoogleDriveFixture> {
  const emulator = await startGoogleDrive();
  const { files, drives } = emulator;
  const about = (name: string) => ({ name: `About ${name}`, mimeType: DRIVE_DOCUMENT, content: `On ${name}.` });
  return {
    ...fixtureOn(emulator),
    emulator,
    ...fixtureByConsent('GOOGLE_DRIVE', emulator),
    get secret() {
      return lastToken(emulator.oauth);
    },
    settings: emulator.settings,
    externalId: 'GOOGLE_DRIVE|ada@harbour.example',
    reset(more = 0) {
      for (const map of [files, drives]) for (const id of Object.keys(map)) delete map[id];
      Object.assign(files, {
        sights: { name: 'Sights', mimeType: DRIVE_FOLDER },
        lighthouse: { name: 'Lighthouse', mimeType: DRIVE_DOCUMENT, parent: 'sights', content: LIGHTHOUSE },
        people: { name: 'People', mimeType: DRIVE_FOLDER, parent: 'sights' },
        keeper: { name: 'Keeper', mimeType: DRIVE_DOCUMENT, parent: 'people', content: KEEPER_SENTENCE },
        'in-boats': { ...about('boats'), parent: null },
        ...Object.fromEntries(DRIVES.map((drive) => [`in-${drive}`, { ...about(drive), drive: `D-${drive}` }])),
        ...Object.fromEntries(
          moreDocuments(more, (name, content) => [name, { name, mimeType: DRIVE_DOCUMENT, content }]),
        ),
      });
      for (const drive of DRIVES) drives[`D-${drive}`] = drive;
      emulator.reset();
      return {
        containers: [DRIVE_ROOT, SHARED, ...DRIVES.map((drive) => `D-${drive}`)],
        lighthouse: 'lighthouse',
        keeper: 'keeper',
        branch: 'sights',
        others: ['boats', ...DRIVES].map((name) => `in-${name}`),
        items: 17 + more,
        format: 'GOOGLE_DOCS',
      };
    },
    write(externalId, text) {
      files[externalId]!.content = text;
    },
    remove(externalId) {
      delete files[externalId];
    },
    limit: (requests, retryAfterS) => emulator.injectFault(nextRequests(requests, alternateRateLimits(retryAfterS))),
    allSecrets: () => [...emulator.oauth.secrets, CLIENT_SECRET],
    breakItem(externalId, status) {
      const filePath = `/drive/v3/files/${externalId}`;
      emulator.injectFault((path) => (path === filePath || path === `${filePath}/export` ? { status } : null));
    },
    contentRequests: (externalId) =>
      emulator.requests.filter((path) => path.startsWith(`/drive/v3/files/${externalId}/export?`)).length,
    pagesListed: () => emulator.requests.filter((path) => path.startsWith('/drive/v3/drives?')).length,
  };
}
