import type { ConnectedSourceType } from '../../../contract/sources.js';
import type { Emulator } from '../../emulators/emulator.js';
import { CLIENT_SECRET, type OAuthProvider } from '../../emulators/oauthProvider.js';
import type { Answer, TestUser } from '../client.js';
import { consentTo } from '../consent.js';
import type { SourceStand } from './stand.js';

/** What a page says, without its markup. */
const textOf = (html: string): string =>
  html
    .replaceAll(/<(style|script|title)[\s\S]*?<\/\1>/g, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Walks through the consent of a source: answers as an operation would that connects it. */
async function walk(service: ConnectedSourceType, user: TestUser, body: object): Promise<Answer<unknown>> {
  const asked = { service, connecting_new_account: true, ...body };
  const answer = await user.post<{ oauth_url: string }>('/integrations/oauth_url', asked);
  if (answer.status !== 200) return answer;
  const { status, html, headers } = await consentTo(answer.body.oauth_url);
  return { status, headers, body: status === 200 ? { success: true } : { detail: textOf(html) } };
}

/** The access token that was given out last. */
export const lastToken = (oauth: Pick<OAuthProvider, 'secrets'>): string =>
  oauth.secrets.findLast((one) => one.startsWith('access-')) ?? '';

/** What is the same for the stand of every source that people consent at. */
export const standByConsent = (
  source: ConnectedSourceType,
  {
    oauth,
    misbehave,
    mend,
  }: Pick<Emulator<{ readonly status: number }>, 'misbehave' | 'mend'> & {
    readonly oauth: Pick<OAuthProvider, 'secrets'> & { revoke(): void };
  },
): Pick<SourceStand, 'connect' | 'takeBack' | 'allSecrets'> & {
  connectAsNobody(user: TestUser, body?: object): Promise<Answer<unknown>>;
} => ({
  connect: (user, body = {}) => walk(source, user, body),
  async connectAsNobody(user, body = {}) {
    // Of what consent brought, the source itself takes nothing.
    misbehave(() => ({ status: 401 }));
    const answer = await walk(source, user, body);
    mend();
    return answer;
  },
  takeBack: () => oauth.revoke(),
  allSecrets: () => [...oauth.secrets, CLIENT_SECRET],
});
