import type { IncomingHttpHeaders } from 'node:http';

import type { ApiDeps } from '../deps.js';
import { forbidden, invalid, unauthorized } from './errors.js';
import type { AuthScheme, KeyCaller, UserCaller } from './operation.js';

/** Longest name an organization may give an end user. */
const MAX_CUSTOMER_ID = 512;

type Credential = { kind: 'token'; owner: UserCaller } | { kind: 'key'; organizationId: number };

async function credentialOf(header: string | undefined, { tokens, store }: ApiDeps): Promise<Credential> {
  const [, scheme, secret] = /^(\S+)\s+(\S+)\s*$/.exec(header ?? '') ?? [];
  if (scheme === undefined || secret === undefined) throw unauthorized();
  switch (scheme.toLowerCase()) {
    case 'token': {
      const claims = tokens.read(secret);
      const owner = claims && (await store.users.find(claims));
      if (!owner) throw unauthorized();
      return { kind: 'token', owner };
    }
    case 'bearer': {
      const organizationId = await store.organizations.organizationOfKey(secret);
      if (organizationId === null) throw unauthorized();
      return { kind: 'key', organizationId };
    }
    default:
      throw unauthorized();
  }
}

function customerIdOf(headers: IncomingHttpHeaders): string {
  const customerId = headers['customer-id'];
  if (typeof customerId !== 'string' || customerId.trim() === '')
    throw invalid(['header', 'customer-id'], 'Field required', 'missing');
  if (customerId.length > MAX_CUSTOMER_ID)
    throw invalid(['header', 'customer-id'], `At most ${MAX_CUSTOMER_ID} characters`, 'string_too_long');
  return customerId;
}

/** Who calls. 401 comes before anything else is looked at, then 403, then 422 for a missing customer-id. */
export async function authenticate(
  scheme: AuthScheme,
  headers: IncomingHttpHeaders,
  deps: ApiDeps,
): Promise<UserCaller | KeyCaller | null> {
  if (scheme === 'open') return null;
  const credential = await credentialOf(headers.authorization, deps);
  if (credential.kind === 'token') {
    if (scheme === 'user') return credential.owner;
    // Clients take 401 of the token operation as "the key is wrong", and a token in the key's place is just that.
    throw scheme === 'issuing' ? unauthorized() : forbidden();
  }
  if (scheme === 'key') return { organizationId: credential.organizationId };
  return deps.store.users.ensure(credential.organizationId, customerIdOf(headers));
}
