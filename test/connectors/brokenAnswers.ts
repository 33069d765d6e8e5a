/** The rule that no broken answer counts as a whole one: what a whole listing lacks is deleted, and content is replaced. */
import { isDeepStrictEqual } from 'node:util';

import { Fault } from '../../contract/failures.js';
import type { Emulator, Mishap } from '../emulators/emulator.js';

/** Ways in which an answer can be broken. Empty objects are what gateways send while what they serve starts. */
const FAULTS: Readonly<Record<string, Mishap>> = {
  'HTTP 500': { status: 500 },
  'connection lost': 'broken',
  'body cut in half': 'cut',
  'page of a proxy': { wrongBody: '<!doctype html><html><body>Please sign in', contentType: 'text/html' },
  'empty object': { wrongBody: '{}', contentType: 'application/json' },
};

/** After these the item that was listed counts as deleted. */
const MEANS_DELETED: ReadonlySet<string> = new Set(['not_found', 'gone']);

/** What a call that met a broken answer did wrong; null where it failed as it should, or answered the same as ever. */
async function wrongWith(call: () => Promise<unknown>, whole: unknown): Promise<string | null> {
  try {
    return isDeepStrictEqual(await call(), whole) ? null : 'it was taken as whole';
  } catch (error) {
    if (!(error instanceof Fault)) return `it threw ${String(error)}`;
    return MEANS_DELETED.has(error.kind) ? `it reported ${error.kind}` : null;
  }
}

/**
 * Repeats a call once for each of its requests and each way to break the answer to that request.
 * @param call a listing from its beginning to its end, or the reading of an item
 * @param faults more ways to break an answer, in the source's own words
 * @returns a line for each broken answer that the call accepted, or took for a deletion
 */
export async function acceptedBrokenAnswers<R extends { readonly status: number }>(
  emulator: Pick<Emulator<R>, 'mend' | 'misbehave' | 'requests'>,
  call: () => Promise<unknown>,
  faults: Readonly<Record<string, Mishap<R>>> = {},
): Promise<string[]> {
  // The first time fills caches, which would send fewer requests the second time.
  await call();
  emulator.mend();
  const whole = await call();
  const requests = [...emulator.requests];
  if (requests.length === 0) throw new Error('the call sends no request');
  const accepted: string[] = [];
  for (const [name, fault] of Object.entries({ ...(FAULTS as Record<string, Mishap<R>>), ...faults }))
    for (const [index, request] of requests.entries()) {
      emulator.mend();
      let asked = 0;
      emulator.misbehave(() => (asked++ === index ? fault : null));
      const wrong = await wrongWith(call, whole);
      if (asked <= index) accepted.push(`${name}: request ${index + 1} (${request}) was not sent`);
      else if (wrong !== null) accepted.push(`${name}, request ${index + 1} (${request}): ${wrong}`);
    }
  emulator.mend();
  return accepted;
}
