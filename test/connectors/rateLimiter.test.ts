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

test('observes a pause that begins while a request waits for a slot, and one that is extended repeatedly', async () => {
  const clock = new VirtualClock(BEGUN);
  const gate = createRateLimiters('Gong', 1, { clock })('account');
  const startOf = () => gate.pass(NEVER, Number.POSITIVE_INFINITY, async () => clock.now() - BEGUN);
  const pauseAfter = async (ms: number, pauseMs: number): Promise<void> => {
    await clock.sleep(ms, NEVER);
    gate.pause(pauseMs);
  };
  const first = gate.pass(NEVER, Number.POSITIVE_INFINITY, () => pauseAfter(50, 1_000));
  const starts = [startOf(), startOf()];
  await Promise.all([first, pauseAfter(500, 1_500), pauseAfter(1_500, 2_000)]);
  expect(await Promise.all(starts)).toEqual([3_500, 3_500]);
});

test.each(['shared', 'account'] as const)(
  'observes a %s pause that begins during the wait for a shared slot',
  async (scope) => {
    const clock = new VirtualClock(BEGUN);
    const gateOf = createRateLimiters('Gong', 1, { sharedAtOnce: 1, clock });
    const [holder, waiting] = [gateOf('holder', 'group'), gateOf('waiting', 'group')];
    const held = holder.pass(NEVER, Number.POSITIVE_INFINITY, async () => {
      await clock.sleep(50, NEVER);
      waiting.pause(1_000, scope);
    });
    expect(await waiting.pass(NEVER, Number.POSITIVE_INFINITY, async () => clock.now() - BEGUN)).toBe(1_050);
    await held;
  },
);

test('takes no shared slot for a request that waits for a pause of its account', async () => {
  const clock = new VirtualClock(BEGUN);
  const gateOf = createRateLimiters('Gong', 1, { sharedAtOnce: 1, clock });
  const [paused, other] = [gateOf('paused', 'group'), gateOf('other', 'group')];
  const startOf = (gate: RateLimiter) => gate.pass(NEVER, Number.POSITIVE_INFINITY, async () => clock.now() - BEGUN);
  const first = paused.pass(NEVER, Number.POSITIVE_INFINITY, async () => {
    await clock.sleep(50, NEVER);
    paused.pause(1_000);
  });
  const delayed = startOf(paused);
  await clock.sleep(100, NEVER);
  expect(await startOf(other)).toBe(100);
  expect(await delayed).toBe(1_050);
  await first;
});

test('rejects a waiting request if a new pause ends after its deadline, and frees its slot', async () => {
  const clock = new VirtualClock(BEGUN);
  const gate = createRateLimiters('Gong', 1, { clock })('account');
  const first = gate.pass(NEVER, Number.POSITIVE_INFINITY, async () => {
    await clock.sleep(50, NEVER);
    gate.pause(60_000);
  });
  expect((await faultOf(gate.pass(NEVER, BEGUN + 30_000, () => Promise.resolve()))).kind).toBe('rate_limited');
  await first;
  expect(await gate.pass(NEVER, Number.POSITIVE_INFINITY, async () => clock.now() - BEGUN)).toBe(60_050);
});
