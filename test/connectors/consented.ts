/** Consent at an emulated source, and accounts whose grant is refreshed, without a store. */
import type { Account } from '../../connectors/account.js';
import { createConnectors } from '../../connectors/registry.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import type { GrantStore, StoredGrant } from '../../contract/oauth.js';
import type { ConnectedSourceType } from '../../contract/sources.js';
import type { Egress } from '../../egress/types.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { answerConsent } from '../support/consent.js';

const CLIENT = { id: CLIENT_ID, secret: CLIENT_SECRET };
export const REDIRECT_URI = 'https://here.example/integrations/callback';

/** Asks for consent, gives it as a browser would, and exchanges what that brings. @param facts what the caller of oauth_url names */
export async function consented(
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
  const back = new URL(await answerConsent(url)).searchParams;
  const code = back.get(requestToken === null ? 'code' : 'oauth_verifier') ?? '';
  const grant = await consent.exchange({ ...request, client: CLIENT, code, requestToken, facts, keepsClient: false });
  return { url: new URL(url), grant };
}

/** An account whose grant rests in memory and is refreshed there, as a store would keep it. */
export function keptAccount(source: ConnectedSourceType, settings: string, grant: StoredGrant, egress: Egress) {
  let kept = { grant, version: '1' };
  const keeper: GrantStore = {
    read: () => Promise.resolve(kept),
    claim: (version) => Promise.resolve(version === kept.version ? 'claim' : null),
    keep(_claim, version, fresh) {
      kept = { grant: fresh, version: `${version}+` };
      return Promise.resolve(kept.version);
    },
    release: () => Promise.resolve(),
    ownClient: () => Promise.resolve(CLIENT),
  };
  const connectors = createConnectors({ egress, urls: readSourceUrls(settings), maxItemBytes: 1_000_000 });
  const account: Account = connectors.account(source, '1', keeper);
  return { account, current: (): StoredGrant => kept.grant };
}
