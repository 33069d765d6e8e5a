import { expect, test } from '@jest/globals';

import { createRateLimiters, type RateLimiter } from '../../connectors/rateLimiter.js';
import { faultOf } from '../support/faultOf.js';
import { VirtualClock } from '../support/largeAccounts/virtualClock.js';
import { NEVER } from './account.js';

const BEGUN = Date.parse('2026-11-27T00:00:00Z');

/** Sends requests concurrently. Returns their start times, in milliseconds since BEGUN. */
async function startsOf(gate: RateLimiter, clock: VirtualClock, requests: number): Promise<number[]> {
  const starts: number[] = [];
  const request = () => {
    starts.push(clock.now() - BEGUN);
    return clock.sleep(50, NEVER);
  };
  await Promise.all(Array.from({ length: requests }, () => gate.pass(NEVER, Number.POSITIVE_INFINITY, request)));
  return starts;
}

test('spreads the requests of an account for ten minutes after a refusal, and does not delay them otherwise', async () => {
  const clock = new VirtualClock(BEGUN);
  const gateOf = createRateLimiters('Gong', 3, { intervalMs: 340, clock });
  const gate = gateOf('account');
  expect(await startsOf(gate, clock, 3)).toEqual([0, 0, 0]);
  gate.pause(1000);
  const [first = 0, ...others] = await startsOf(gate, clock, 4);
  expect(first).toBe(1050);
  expect(others).toEqual([1390, 1730, 2070]);
  expect(await startsOf(gateOf('another'), clock, 2)).toEqual([2120, 2120]);
  await clock.sleep(600_000, NEVER);
  expect(new Set(await startsOf(gate, clock, 3)).size).toBe(1);
});

test('rejects a request that a pause would delay beyond its deadline, without waiting', async () => {
  const clock = new VirtualClock(BEGUN);
  const gate = createRateLimiters('Gong', 3, { clock })('account');
  gate.pause(60_000);
  const request = gate.pass(NEVER, BEGUN + 30_000, () => Promise.resolve());
  expect(await faultOf(request)).toMatchObject({ kind: 'rate_limited', retryAfterMs: 60_000 });
  expect(clock.now()).toBe(BEGUN);
  // A pause that ends exactly at the deadline is waited for.
  expect(await gate.pass(NEVER, BEGUN + 60_000, () => Promise.resolve(clock.now()))).toBe(BEGUN + 60_000);
});

test('keeps a longer earlier pause, and reports the pauses of an account and of its group', async () => {
  const clock = new VirtualClock(BEGUN);
  const gateOf = createRateLimiters('Gong', 3, { sharedAtOnce: 3, clock });
  const [gate, sameGroup, alone] = [gateOf('account', 'group'), gateOf('other', 'group'), gateOf('third')];
  gate.pause(60_000);
  gate.pause(1_000);
  gate.pause(7_000, 'shared');
  alone.pause(5_000, 'shared');
  expect(await gate.paused()).toEqual({ accountMs: 60_000, sharedMs: 7_000 });
  expect(await sameGroup.paused()).toEqual({ accountMs: 0, sharedMs: 7_000 });
  expect(await alone.paused()).toEqual({ accountMs: 5_000, sharedMs: null });
});

/** Starts a request of 50 ms that pauses its account, or all accounts of its group, for a second when it ends. */
const pausing = (gate: RateLimiter, clock: VirtualClock, scope?: 'account' | 'shared') =>
  gate.pass(NEVER, Number.POSITIVE_INFINITY, async () => {
    await clock.sleep(50, NEVER);
    gate.pause(1_000, scope);
  });

test('a request that waits for a slot observes a pause that began meanwhile', async () => {
  for (const [group, scope] of [
    [null, 'account'],
    ['group', 'account'],
    ['group', 'shared'],
  ] as const) {
    const clock = new VirtualClock(BEGUN);
    const gate = createRateLimiters('Gong', 1, { sharedAtOnce: 1, clock })('account', group);
    const [, starts] = await Promise.all([pausing(gate, clock, scope), startsOf(gate, clock, 2)]);
    expect([group, scope, starts]).toEqual([group, scope, [1_050, 1_100]]);
  }
});

test('a request that waits for the slot of a group observes a pause of its account or its group', async () => {
  for (const scope of ['account', 'shared'] as const) {
    const clock = new VirtualClock(BEGUN);
    const gateOf = createRateLimiters('Gong', 2, { sharedAtOnce: 1, clock });
    const [gate, other] = [gateOf('account', 'group'), gateOf('other', 'group')];
    const [, starts] = await Promise.all([pausing(gate, clock, scope), startsOf(gate, clock, 1)]);
    expect([scope, starts]).toEqual([scope, [1_050]]);
    expect(await startsOf(other, clock, 1)).toEqual([1_100]);
  }
});

test('a request that waits for the pause of its account keeps no slot of its group', async () => {
  const clock = new VirtualClock(BEGUN);
  const gateOf = createRateLimiters('Gong', 1, { sharedAtOnce: 1, clock });
  const gate = gateOf('account', 'group');
  const [, starts, others] = await Promise.all([
    pausing(gate, clock),
    startsOf(gate, clock, 1),
    clock.sleep(60, NEVER).then(() => startsOf(gateOf('other', 'group'), clock, 1)),
  ]);
  expect([starts, others]).toEqual([[1_050], [60]]);
});

test('a pause beyond the deadline, or an abort during a pause, frees the slot of the request that waited in it', async () => {
  const clock = new VirtualClock(BEGUN);
  const gateOf = createRateLimiters('Gong', 1, { sharedAtOnce: 1, clock });
  const gate = gateOf('account', 'group');
  const abort = new AbortController();
  const waiting = [
    pausing(gate, clock),
    gate.pass(NEVER, BEGUN + 500, () => Promise.resolve('sent')),
    gate.pass(abort.signal, Number.POSITIVE_INFINITY, () => Promise.resolve('sent')),
    clock.sleep(100, NEVER).then(() => abort.abort(new Error('aborted'))),
  ];
  const [, late, aborted] = await Promise.allSettled(waiting);
  expect(late).toMatchObject({ status: 'rejected', reason: { kind: 'rate_limited', retryAfterMs: 1_000 } });
  expect(aborted).toMatchObject({ status: 'rejected', reason: { message: 'aborted' } });
  expect(clock.now()).toBe(BEGUN + 100);
  expect(await startsOf(gate, clock, 1)).toEqual([1_050]);
});
