import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { createTokens, TOKEN_LIFE_MS } from '../../api/http/identity/tokens.js';
import type { AuthScheme } from '../../api/http/operation.js';
import { operations } from '../../api/routes.js';
import { loadConfig } from '../../config/config.js';
import { jsonOf } from '../support/client.js';
import { everyRow } from '../support/everyRow.js';
import { type SharedService, sharedService } from '../support/sharedService.js';
import { publishedDocument } from '../support/contract.js';
import { isThorough } from '../support/thorough.js';

type Headers = Record<string, string>;

let service: SharedService;
let credentials: Record<keyof typeof EXPECTED.user, Headers>;

beforeAll(async () => {
  service = await sharedService({ worker: false });
  const customerId = 'carla';
  const owner = await service.store.users.ensure(service.organizationId, customerId);
  const { secretKeys } = loadConfig(service.env);
  const token = (now: number) => `Token ${createTokens(secretKeys, () => now).issue(owner).accessToken}`;
  const key = `Bearer ${service.apiKey}`;
  credentials = {
    nothing: {},
    'a bad key': { authorization: 'Bearer alk_unknown', 'customer-id': customerId },
    'a bad token': { authorization: `${token(Date.now())}x` },
    'an expired token': { authorization: token(Date.now() - TOKEN_LIFE_MS - 1_000) },
    'a token': { authorization: token(Date.now()) },
    'a key': { authorization: key },
    'a key and a customer id': { authorization: key, 'customer-id': customerId },
  };
});
afterAll(() => service.close());

/** Expected status for each credential, by the auth scheme of the operation; 200 means "authenticated". */
const EXPECTED = {
  user: {
    nothing: 401,
    'a bad key': 401,
    'a bad token': 401,
    'an expired token': 401,
    'a token': 200,
    'a key': 422,
    'a key and a customer id': 200,
  },
  key: {
    nothing: 401,
    'a bad key': 401,
    'a bad token': 401,
    'an expired token': 401,
    'a token': 403,
    'a key': 200,
    'a key and a customer id': 200,
  },
  either: {
    nothing: 401,
    'a bad key': 401,
    'a bad token': 401,
    'an expired token': 401,
    'a token': 200,
    'a key': 200,
    'a key and a customer id': 200,
  },
  issuing: {
    nothing: 401,
    'a bad key': 401,
    'a bad token': 401,
    'an expired token': 401,
    'a token': 401,
    'a key': 422,
    'a key and a customer id': 200,
  },
  open: {
    nothing: 200,
    'a bad key': 200,
    'a bad token': 200,
    'an expired token': 200,
    'a token': 200,
    'a key': 200,
    'a key and a customer id': 200,
  },
} as const satisfies Record<Exclude<AuthScheme, 'reader' | 'operator'>, Record<string, number>>;

/**
 * Returns the auth scheme that corresponds to the contract's declaration of an operation; null if the contract does
 * not contain the operation. The operation that issues tokens declares its two headers as parameters, not as a
 * security scheme.
 */
function schemeInContract(method: string, path: string): keyof typeof EXPECTED | null {
  const described = publishedDocument.paths[path]?.[method];
  if (!described) return null;
  if (!described.security) return 'issuing';
  return described.security.some((requirement) => 'accessToken' in requirement) ? 'user' : 'key';
}

const nameOf = ({ method, path }: { readonly method: string; readonly path: string }): string => `${method} ${path}`;

/** Replaces the path parameters by an id that does not exist. */
const addressOf = (path: string): string => path.replaceAll(/\{\w+\}/g, '999999999999');

/**
 * Invalid credentials. Open operations ignore them, and all others refuse them. This depends only on the auth scheme of
 * the operation, so they are sent to one operation of each scheme and method, and in `npm run test:long` to all
 * operations.
 */
const INVALID = new Set<string>(['a bad key', 'a bad token', 'an expired token']);
const withInvalid = new Set(
  isThorough()
    ? operations
    : new Map(operations.map((operation) => [`${operation.auth} ${operation.method}`, operation])).values(),
);

test('every operation accepts exactly the credentials of the contract', () =>
  everyRow(operations, nameOf, async (operation) => {
    const { method, path, auth } = operation;
    // The pages for operators are not part of the public API; ops.test.ts tests them.
    if (auth === 'operator') throw new Error('A public operation must not use the browser session of an operator');
    const scheme = auth === 'reader' ? 'user' : auth;
    expect(schemeInContract(method, path) ?? scheme).toBe(scheme);
    const checkWith = async (name: keyof typeof credentials): Promise<void> => {
      const headers = credentials[name];
      const answer = await fetch(`${service.url}${addressOf(path)}`, {
        method: method.toUpperCase(),
        headers: { ...headers, ...(method === 'post' ? { 'content-type': 'application/json' } : {}) },
        ...(method === 'post' ? { body: '{}' } : {}),
      });
      const body = (await jsonOf(answer)) as { detail?: string | { loc: unknown[] }[] };
      const expected = EXPECTED[scheme][name];
      const admission = JSON.stringify(body.detail ?? '').includes('"customer-id"') ? 422 : 200;
      // A presigned link is the credential for /content.
      const status = [401, 403].includes(answer.status) && !path.startsWith('/content/') ? answer.status : admission;
      expect({ name, status, answered: answer.status }).toMatchObject({ name, status: expected });
      if (expected !== 200) expect(answer.status).toBe(expected);
      if (expected === 401 || expected === 403) expect(body).toEqual({ detail: expect.any(String) });
    };
    const names = (Object.keys(credentials) as (keyof typeof credentials)[]).filter(
      (name) => !INVALID.has(name) || withInvalid.has(operation),
    );
    await Promise.all(names.map(checkWith));
  }));

test('answers an unsupported method with 405, and names the supported methods in Allow', () =>
  everyRow([...new Set(operations.map((operation) => operation.path))], String, async (path) => {
    const methods = operations
      .filter((operation) => operation.path === path)
      .map((operation) => operation.method.toUpperCase());
    const unsupported = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter((candidate) => !methods.includes(candidate));
    // All unsupported methods of a path reach the same handler.
    for (const method of isThorough() ? unsupported : unsupported.slice(0, 1)) {
      const answer = await fetch(`${service.url}${addressOf(path)}`, { method });
      expect({ method, status: answer.status, allow: answer.headers.get('allow') }).toEqual({
        method,
        status: 405,
        allow: methods.join(', '),
      });
      expect(await answer.json()).toEqual({ detail: expect.any(String) });
    }
  }));
