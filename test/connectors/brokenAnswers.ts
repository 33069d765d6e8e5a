/**
 * Checks that a connector never accepts a broken response as complete: the service deletes the items that are missing
 * in a complete listing, and replaces the stored content of an item by the content that the connector returns.
 */
import { isDeepStrictEqual } from 'node:util';

import { Fault } from '../../contract/failures.js';
import type { Emulator, InjectedFault } from '../emulators/emulator.js';

/** Ways to break a response. Gateways send empty objects while the service behind them starts. */
const FAULTS: Readonly<Record<string, InjectedFault>> = {
  'HTTP 500': { status: 500 },
  'connection lost': 'brokenConnection',
  'body cut in half': 'cutBody',
  'page of a proxy': { wrongBody: '<!doctype html><html><body>Please sign in', contentType: 'text/html' },
  'empty object': { wrongBody: '{}', contentType: 'application/json' },
};

/** Kinds of Faults after which the listed item counts as deleted. */
const MEANS_DELETED: ReadonlySet<string> = new Set(['not_found', 'gone']);

/** Returns how a call mishandled a broken response; null if it failed as expected or returned the full result. */
async function mistakeOf(call: () => Promise<unknown>, expected: unknown): Promise<string | null> {
  try {
    return isDeepStrictEqual(await call(), expected) ? null : 'the response was accepted as complete';
  } catch (error) {
    if (!(error instanceof Fault)) return `it threw ${String(error)}`;
    return MEANS_DELETED.has(error.kind) ? `it reported ${error.kind}` : null;
  }
}

/**
 * Repeats a call once for each of its requests and each way to break the response to that request.
 * @param call a complete listing, or the reading of an item
 * @param faults further ways to break a response, specific to the source
 * @returns a line for each broken response after which the call returned another result, threw an error other than a
 * Fault, or threw a Fault that means that the item was deleted; and for each request that a repetition did not send
 */
export async function acceptedBrokenAnswers<R extends { readonly status: number }>(
  emulator: Pick<Emulator<R>, 'reset' | 'injectFault' | 'requests'>,
  call: () => Promise<unknown>,
  faults: Readonly<Record<string, InjectedFault<R>>> = {},
): Promise<string[]> {
  // The first call fills caches, so that the next calls all send the same requests.
  await call();
  emulator.reset();
  const expected = await call();
  const requests = [...emulator.requests];
  if (requests.length === 0) throw new Error('the call sends no request');
  const mistakes: string[] = [];
  for (const [name, fault] of Object.entries({ ...(FAULTS as Record<string, InjectedFault<R>>), ...faults }))
    for (const [index, request] of requests.entries()) {
      emulator.reset();
      let sent = 0;
      emulator.injectFault(() => (sent++ === index ? fault : null));
      const mistake = await mistakeOf(call, expected);
      if (sent <= index) mistakes.push(`${name}: request ${index + 1} (${request}) was not sent`);
      else if (mistake !== null) mistakes.push(`${name}, request ${index + 1} (${request}): ${mistake}`);
    }
  emulator.reset();
  return mistakes;
}
