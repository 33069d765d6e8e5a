import { nextRequests } from '../../emulators/emulator.js';
import { alternateRateLimits } from '../../emulators/googleApi.js';
import { startGoogleCloudStorage } from '../../emulators/googleCloudStorage.js';
import { CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { lastToken, fixtureByConsent } from './byConsent.js';
import { objectsOn } from './objects.js';
import { type SourceFixture, fixtureOn } from './fixture.js';

export async function fixtureForGoogleCloudStorage(): Promise<SourceFixture> {
  const emulator = await startGoogleCloudStorage();
  const objects = objectsOn(emulator.buckets);
  Object.assign(emulator.projects, {
    closed: null,
    north: ['atlas', 'boats'],
    south: ['crews', 'docks'],
    east: ['eels'],
  });
  const apiPathOf = (externalId: string): string => {
    const slash = externalId.indexOf('/');
    const [bucket, key] = [externalId.slice(0, slash), externalId.slice(slash + 1)];
    return `/storage/v1/b/${bucket}/o/${encodeURIComponent(key)}`;
  };
  return {
    ...fixtureOn(emulator),
    ...fixtureByConsent('GOOGLE_CLOUD_STORAGE', emulator),
    get secret() {
      return lastToken(emulator.oauth);
    },
    settings: emulator.settings,
    externalId: 'GOOGLE_CLOUD_STORAGE|ada@harbour.example',
    reset(more = 0) {
      emulator.reset();
      return objects.fill(more);
    },
    write: objects.write,
    remove: objects.remove,
    limit: (requests, retryAfterS) => emulator.injectFault(nextRequests(requests, alternateRateLimits(retryAfterS))),
    allSecrets: () => [...emulator.oauth.secrets, CLIENT_SECRET],
    breakItem: (externalId, status) =>
      emulator.injectFault((path) => (path === apiPathOf(externalId) ? { status } : null)),
    contentRequests: (externalId) =>
      emulator.requests.filter((path) => path.startsWith(`${apiPathOf(externalId)}?alt=media`)).length,
    pagesListed: () => emulator.requests.filter((path) => path.startsWith('/storage/v1/b?')).length,
  };
}
