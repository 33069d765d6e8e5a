import { ACCOUNT, ACCOUNT_KEY, type AzureEmulator, startAzure } from '../../emulators/azureBlobStorage.js';
import { nextRequests } from '../../emulators/emulator.js';
import { objectsOn } from './objects.js';
import { type SourceFixture, fixtureOn } from './fixture.js';

/** Returns the fixture for Azure Blob Storage on the given emulator. */
export function fixtureOnAzure(emulator: AzureEmulator): SourceFixture {
  const { fill, write, remove } = objectsOn(emulator.containers);
  const connect: SourceFixture['connect'] = (user, body = {}) =>
    user.post('/integrations/azure_blob_storage', { account_name: ACCOUNT, account_key: ACCOUNT_KEY, ...body });
  return {
    ...fixtureOn(emulator),
    write,
    remove,
    settings: emulator.settings,
    secret: ACCOUNT_KEY,
    externalId: `AZURE_BLOB_STORAGE|${ACCOUNT}`,
    connected: {
      data_source_type: 'AZURE_BLOB_STORAGE',
      data_source_external_id: `AZURE_BLOB_STORAGE|${ACCOUNT}`,
    },
    reset(more = 0) {
      const content = fill(more);
      emulator.reset();
      emulator.keys.set(ACCOUNT, ACCOUNT_KEY);
      return content;
    },
    connect,
    connectWithInvalidCredentials: (user) => connect(user, { account_name: 'nobody' }),
    limit(requests, retryAfterS = 0) {
      const busy = { status: 503, code: 'ServerBusy', headers: { 'retry-after': String(retryAfterS) } };
      emulator.injectFault(nextRequests(requests, () => busy));
    },
    breakItem(externalId, status) {
      // Azure answers 403 for a key that is no longer valid.
      const code = status === 401 ? 'AuthenticationFailed' : 'AuthorizationFailure';
      emulator.injectFault((path) => (path === externalId ? { status: 403, code } : null));
    },
    contentRequests: (externalId) => emulator.requests.filter((path) => path === `/${ACCOUNT}/${externalId}`).length,
    revokeAccess: () => void emulator.keys.delete(ACCOUNT),
    pagesListed: () => emulator.requests.filter((path) => path.startsWith(`/${ACCOUNT}/?`)).length,
  };
}

export const fixtureForAzure = async (): Promise<SourceFixture> => fixtureOnAzure(await startAzure());
