/** Obtains consent from an emulated source, and builds accounts whose grant is refreshed in memory. */
import type { Account } from '../../connectors/account.js';
import { createConnectors } from '../../connectors/registry.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import type { GrantStore, StoredGrant } from '../../contract/accounts/oauth.js';
import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { Egress } from '../../egress/types.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { answerConsent } from '../support/consent.js';

const CLIENT = { id: CLIENT_ID, secret: CLIENT_SECRET };
export const REDIRECT_URI = 'https://here.example/integrations/callback';

/**
 * Requests consent, follows the redirect as a browser would, and exchanges the code.
 * @param facts the fields that the caller of oauth_url sends
 */
export async function obtainGrant(
  source: ConnectedSourceType,
  settings: string,
  egress: Egress,
  facts: Readonly<Record<string, string>> = {},
): Promise<{ readonly url: URL; readonly grant: StoredGrant }> {
  const consent = createConnectors({ egress, urls: readSourceUrls(settings), maxItemBytes: 1 }).consent(source)!;
  const request = { redirectUri: REDIRECT_URI, verifier: 'v'.repeat(43) };
  const { url, requestToken } = await consent.begin(facts, {
    ...request,
    ...{ clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, state: 'the-state', scopes: consent.spec.scopes },
  });
  const callback = new URL(await answerConsent(url)).searchParams;
  const code = callback.get(requestToken === null ? 'code' : 'oauth_verifier') ?? '';
  const grant = await consent.exchange({ ...request, client: CLIENT, code, requestToken, facts, keepsClient: false });
  return { url: new URL(url), grant };
}

/** Returns an account whose grant is stored and refreshed in memory. */
export function accountWithStoredGrant(
  source: ConnectedSourceType,
  settings: string,
  grant: StoredGrant,
  egress: Egress,
) {
  let storedGrant = { grant, version: '1' };
  const grantStore: GrantStore = {
    read: () => Promise.resolve(storedGrant),
    claim: (version) => Promise.resolve(version === storedGrant.version ? 'claim' : null),
    save(_claim, version, fresh) {
      storedGrant = { grant: fresh, version: `${version}+` };
      return Promise.resolve(storedGrant.version);
    },
    release: () => Promise.resolve(),
    ownClient: () => Promise.resolve(CLIENT),
  };
  const connectors = createConnectors({ egress, urls: readSourceUrls(settings), maxItemBytes: 1_000_000 });
  const account: Account = connectors.account(source, '1', grantStore);
  return { account, current: (): StoredGrant => storedGrant.grant };
}
