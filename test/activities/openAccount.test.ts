/** Tests of what a step does when a source no longer accepts the credentials of an account. Stores are fakes. */
import { expect, test } from '@jest/globals';

import { withAccount } from '../../activities/connected/openAccount.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { Fault, type FaultKind } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';
import { faultOf } from '../support/faultOf.js';
import { recorder } from '../support/recorder.js';

const TENANT = { organizationId: 1, userId: 2 };
const SOURCE = { ...TENANT, _id: 9, type: 'BOX', sealedCredentials: 'sealed', revokedAccess: false };

interface Case {
  readonly error?: FaultKind;
  readonly source?: object | null;
  readonly credentials?: string | null;
  /** Version of the credentials that a refresh stored. */
  readonly grantVersion?: string | null;
  /** Whether the stored credentials are still the refused ones. */
  readonly isRevoked?: boolean;
}
async function open({ error, source = SOURCE, credentials = 'c', grantVersion = null, isRevoked = true }: Case) {
  const { stores, of } = recorder({
    'dataSources.find': source,
    'dataSources.revoke': { ...SOURCE, revokedAccess: isRevoked },
  });
  const store = {
    ...(stores as object),
    accountCredentials: () => credentials,
    transaction: (work: (session: null) => unknown) => Promise.resolve(work(null)),
  };
  const keys: unknown[] = [];
  const account = (...args: unknown[]) => {
    keys.push(args);
    return { grantVersion: () => grantVersion };
  };
  const log = { warn: () => undefined };
  const deps = { store, log, connectors: { account }, names: { keyOf: () => 'w' } } as unknown as ActivityDeps;
  const used: unknown[] = [];
  const opened = withAccount(TENANT, 9, deps, (one) => {
    used.push(one.source);
    return error ? Promise.reject(new Fault(error, 'refused')) : Promise.resolve('done');
  });
  const result =
    error || source === null || credentials === null ? await faultOf(opened, error ?? 'access_revoked') : await opened;
  return { result, keys, used, revoked: of('dataSources.revoke'), aborted: of('files.abortQueuedOf') };
}

test('a step gets the data source and an account with its credentials; success revokes nothing', async () => {
  const { result, keys, used, revoked } = await open({});
  expect([result, keys, used, revoked]).toEqual(['done', [['BOX', '9', 'c']], [SOURCE], []]);
});

const CASES: readonly (readonly [what: string, given: Case, refused: string | null, ends: boolean])[] = [
  ['refused credentials', { error: 'access_revoked' }, 'sealed', true],
  ['refused credentials after a refresh', { error: 'access_revoked', grantVersion: 'newer' }, 'newer', true],
  ['an account that was connected again meanwhile', { error: 'access_revoked', isRevoked: false }, 'sealed', false],
  ['another fault', { error: 'timed_out' }, null, false],
  ['an unknown account', { source: null }, null, false],
  ['an account without credentials', { credentials: null }, null, false],
];

test('only refused credentials revoke an account, and only then its waiting files end', () =>
  everyRow(
    CASES,
    ([what]) => what,
    async ([, given, refused, ends]) => {
      const { revoked, aborted } = await open(given);
      expect(revoked).toEqual(refused === null ? [] : [[TENANT, 9, null, expect.objectContaining({ refused })]]);
      expect(aborted).toHaveLength(ends ? 1 : 0);
    },
  ));
