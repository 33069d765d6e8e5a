import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';

import { createTokens, TOKEN_LIFE_MS } from '../../api/http/identity/tokens.js';
import { base64Twins } from '../support/base64Twins.js';

const owner = { organizationId: 7, userId: 42 };
const key = (id: string) => ({ id, key: randomBytes(32) });

test('a token identifies its owner until it expires', () => {
  let now = 1_000;
  const tokens = createTokens([key('a')], () => now);
  const { accessToken } = tokens.issue(owner);
  expect(tokens.read(accessToken)).toEqual({ owner, scope: null });
  now += TOKEN_LIFE_MS - 1;
  expect(tokens.read(accessToken)).toEqual({ owner, scope: null });
  now += 1;
  expect(tokens.read(accessToken)).toBeNull();
});

test('an altered token is invalid', () => {
  const tokens = createTokens([key('a')]);
  const [kind, id, payload, mac] = tokens.issue(owner).accessToken.split('.');
  const changedPayload = Buffer.from(JSON.stringify({ o: 8, u: 42, e: Date.now() + 1e9 })).toString('base64url');
  for (const token of [
    `${kind}.${id}.${changedPayload}.${mac}`,
    `${kind}.b.${payload}.${mac}`,
    `${kind}.${id}.${payload}.`,
    `${kind}.${id}.${payload}.AAAA`,
    'x',
    '',
  ]) {
    expect(tokens.read(token)).toBeNull();
  }
});

test('a token is invalid if its signature is another base64 text of the same bytes', () => {
  const tokens = createTokens([key('a')]);
  const { accessToken } = tokens.issue(owner);
  const signatureAt = accessToken.lastIndexOf('.') + 1;
  const twins = base64Twins(accessToken.slice(signatureAt)).map(
    (signature) => accessToken.slice(0, signatureAt) + signature,
  );
  expect(twins.length).toBeGreaterThanOrEqual(3);
  expect(twins.map((token) => tokens.read(token))).toEqual(twins.map(() => null));
  expect(tokens.read(accessToken)).toEqual({ owner, scope: null });
});

test('with several keys, the first one signs tokens and all verify them', () => {
  const [old, fresh] = [key('old'), key('fresh')];
  const { accessToken } = createTokens([old]).issue(owner);
  expect(createTokens([fresh, old]).read(accessToken)).toEqual({ owner, scope: null });
  expect(createTokens([fresh]).read(accessToken)).toBeNull();
});

test('a refresh token is not accepted as an access token', () => {
  const tokens = createTokens([key('a')]);
  expect(tokens.read(tokens.issue(owner).refreshToken)).toBeNull();
});

test('a token has the scope and the lifetime with which it was issued', () => {
  let now = 1_000;
  const tokens = createTokens([key('a')], () => now);
  const unscoped = tokens.issue(owner).accessToken;
  const { accessToken } = tokens.issue(owner, { scope: 'read write', lifeMs: 5_000 });
  expect(tokens.read(unscoped)).toEqual({ owner, scope: null });
  expect(tokens.read(accessToken)).toEqual({ owner, scope: 'read write' });
  now += 5_000;
  expect([tokens.read(accessToken), tokens.read(unscoped)?.owner]).toEqual([null, owner]);
});
