import { Fault } from '../../contract/failures.js';
import type { StoredGrant } from '../../contract/accounts/oauth.js';
import type { Egress } from '../../egress/types.js';
import type { Provider } from './tokenRequests.js';

const MAX_ANSWER_BYTES = 100_000;
const TIMEOUT_MS = 10_000;

/** Whether a successful answer contains a refusal. */
function isRefused(text: string): boolean {
  try {
    return (JSON.parse(text) as { readonly ok?: unknown } | null)?.ok === false;
  } catch {
    return false;
  }
}

/** Revokes a grant at its source, if the source supports that. @throws Fault unless the source confirms it */
export async function revokeGrant(
  { name, spec: { revokes }, urls }: Provider,
  { accessToken, refreshToken }: StoredGrant,
  egress: Pick<Egress, 'request'>,
): Promise<void> {
  if (revokes === undefined) return;
  const isForm = revokes === 'form';
  const answer = await egress.request({
    url: urls['revoke'] ?? '',
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...(isForm ? {} : { authorization: `Bearer ${accessToken}` }),
    },
    // Revoking the refresh token also ends its access token.
    body: new URLSearchParams(isForm ? { token: refreshToken ?? accessToken } : {}).toString(),
    maxBytes: MAX_ANSWER_BYTES,
    totalTimeoutMs: TIMEOUT_MS,
    redirects: 'answer',
  });
  const text = Buffer.from(await answer.bytes()).toString();
  if (answer.status < 200 || answer.status >= 300 || isRefused(text))
    throw new Fault('bad_response', `${name} did not revoke the grant (HTTP ${answer.status}).`);
}
