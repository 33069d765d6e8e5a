import { nextRequests } from '../../emulators/emulator.js';
import { ACCESS_KEY, ACCESS_KEY_SECRET, type S3SourceEmulator } from '../../emulators/s3Source.js';
import { objectsOn } from './objects.js';
import { type SourceFixture, fixtureOn } from './fixture.js';

/** Returns the fixture for S3 on the given emulator. */
export function fixtureForS3(emulator: S3SourceEmulator): SourceFixture {
  const { fill, write, remove } = objectsOn(emulator.buckets);
  return {
    ...fixtureOn(emulator),
    write,
    remove,
    settings: emulator.settings,
    secret: ACCESS_KEY_SECRET,
    externalId: `S3|${ACCESS_KEY}`,
    connected: { data_source_type: 'S3', data_source_external_id: `S3|${ACCESS_KEY}` },
    reset(more = 0) {
      const content = fill(more);
      emulator.reset();
      emulator.regions.clear();
      emulator.keys.set(ACCESS_KEY, ACCESS_KEY_SECRET);
      return content;
    },
    connect: (user, body = {}) =>
      user.post('/integrations/s3', { access_key: ACCESS_KEY, access_key_secret: ACCESS_KEY_SECRET, ...body }),
    connectWithInvalidCredentials: (user) =>
      user.post('/integrations/s3', { access_key: 'AKIANOBODY', access_key_secret: ACCESS_KEY_SECRET }),
    limit(requests, retryAfterS = 0) {
      const slowDown = { status: 503, code: 'SlowDown', headers: { 'retry-after': String(retryAfterS) } };
      emulator.injectFault(nextRequests(requests, () => slowDown));
    },
    breakItem(externalId, status) {
      // S3 reports an expired token with 400 instead of 401.
      const code = status === 401 ? 'ExpiredToken' : 'AccessDenied';
      emulator.injectFault((path) => (path === externalId ? { status: status === 401 ? 400 : status, code } : null));
    },
    contentRequests: (externalId) => emulator.requests.filter((path) => path.split('?')[0] === `/${externalId}`).length,
    revokeAccess: () => void emulator.keys.delete(ACCESS_KEY),
    pagesListed: () => emulator.requests.filter((path) => path.startsWith('/?')).length,
  };
}
