import type { ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import type { Emulator } from '../../emulators/emulator.js';
import { CLIENT_SECRET, type OAuthProvider } from '../../emulators/oauthProvider.js';
import type { Answer, TestUser } from '../client.js';
import { consentTo } from '../consent.js';
import type { SourceFixture } from './fixture.js';

/** Returns the text of a page without its markup. */
const textOf = (html: string): string =>
  html
    .replaceAll(/<(style|script|title)[\s\S]*?<\/\1>/g, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/**
 * Connects a source by OAuth consent.
 * @returns an answer of the same form as the answer of an operation that connects without consent
 */
async function connectByConsent(service: ConnectedSourceType, user: TestUser, body: object): Promise<Answer<unknown>> {
  const request = { service, connecting_new_account: true, ...body };
  const answer = await user.post<{ oauth_url: string }>('/integrations/oauth_url', request);
  if (answer.status !== 200) return answer;
  const { status, html, headers } = await consentTo(answer.body.oauth_url);
  return { status, headers, body: status === 200 ? { success: true } : { detail: textOf(html) } };
}

/** Returns the access token issued last. */
export const lastToken = (oauth: Pick<OAuthProvider, 'secrets'>): string =>
  oauth.secrets.findLast((secret) => secret.startsWith('access-')) ?? '';

/** Returns the members that are common to all fixtures of sources with OAuth consent. */
export const fixtureByConsent = (
  source: ConnectedSourceType,
  {
    oauth,
    injectFault,
    reset,
  }: Pick<Emulator<{ readonly status: number }>, 'injectFault' | 'reset'> & {
    readonly oauth: Pick<OAuthProvider, 'secrets'> & { revoke(): void };
  },
): Pick<SourceFixture, 'connect' | 'revokeAccess' | 'allSecrets'> & {
  connectWithInvalidCredentials(user: TestUser, body?: object): Promise<Answer<unknown>>;
} => ({
  connect: (user, body = {}) => connectByConsent(source, user, body),
  async connectWithInvalidCredentials(user, body = {}) {
    // The source rejects the new token.
    injectFault(() => ({ status: 401 }));
    const answer = await connectByConsent(source, user, body);
    reset();
    return answer;
  },
  revokeAccess: () => oauth.revoke(),
  allSecrets: () => [...oauth.secrets, CLIENT_SECRET],
});
