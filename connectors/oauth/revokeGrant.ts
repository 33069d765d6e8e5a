import { Fault } from '../../contract/failures.js';
import type { StoredGrant } from '../../contract/accounts/oauth.js';
import type { Egress } from '../../egress/types.js';
import type { Provider } from './tokenRequests.js';

const MAX_ANSWER_BYTES = 100_000;
const TIMEOUT_MS = 10_000;

/** Whether an answer that is a success refuses all the same. */
function refuses(text: string): boolean {
  try {
    return (JSON.parse(text) as { readonly ok?: unknown } | null)?.ok === false;
  } catch {
    return false;
  }
}

/** Has a source end what a person granted, where it can be asked to. @throws Fault where it does not say that it did */
export async function revokeGrant(
  { name, spec: { revokes }, urls }: Provider,
  { accessToken, refreshToken }: StoredGrant,
  egress: Pick<Egress, 'request'>,
): Promise<void> {
  if (revokes === undefined) return;
  const inForm = revokes === 'form';
  const answer = await egress.request({
    url: urls['revoke'] ?? '',
    method: 'POST',
    headers: {
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
      ...(inForm ? {} : { authorization: `Bearer ${accessToken}` }),
    },
    // With the one that outlives the other, both end.
    body: new URLSearchParams(inForm ? { token: refreshToken ?? accessToken } : {}).toString(),
    maxBytes: MAX_ANSWER_BYTES,
    totalTimeoutMs: TIMEOUT_MS,
    redirects: 'answer',
  });
  const text = Buffer.from(await answer.bytes()).toString();
  if (answer.status < 200 || answer.status >= 300 || refuses(text))
    throw new Fault('bad_response', `${name} did not end the grant (HTTP ${answer.status}).`);
}
