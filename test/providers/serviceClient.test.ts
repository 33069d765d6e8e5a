import { expect, test } from '@jest/globals';

import { call, type Peer, type Refusal, reasonIn, refusalOf } from '../../providers/serviceClient.js';
import { everyRow } from '../support/everyRow.js';

/** https://www.rfc-editor.org/rfc/rfc9110#section-15 */
const REFUSALS: readonly (readonly [status: number, waitMs: number | null, refusal: Refusal])[] = [
  [300, null, 'moved'],
  [302, null, 'moved'],
  [399, null, 'moved'],
  [400, null, 'not_accepted'],
  [401, null, 'unauthorized'],
  [402, null, 'unpaid'],
  [403, null, 'forbidden'],
  [404, null, 'moved'],
  [405, null, 'moved'],
  [408, null, 'failed'],
  [409, null, 'not_accepted'],
  [413, null, 'too_large'],
  [415, null, 'not_accepted'],
  [422, null, 'not_accepted'],
  [429, null, 'busy'],
  [429, 7, 'busy'],
  [499, null, 'not_accepted'],
  [500, null, 'failed'],
  [500, 7, 'failed'],
  [502, 7, 'failed'],
  [503, null, 'failed'],
  [503, 0, 'busy'],
  [503, 7, 'busy'],
  [599, null, 'failed'],
];
test('maps each status outside 2xx to its refusal', () =>
  everyRow(
    REFUSALS,
    (row) => row.join(' '),
    ([status, waitMs, refusal]) => expect(refusalOf(status, waitMs)).toBe(refusal),
  ));

const reasonsIn = (body: unknown): unknown[] => [(body as { message?: unknown }).message];
const REASONS: readonly (readonly [text: string, reason: string])[] = [
  ['{"message":"Wrong model."}', 'Wrong model'],
  ['{"error":"Wrong model."}', ''],
  [' {"message":"Wrong model."}', 'Wrong model'],
  ['not enough credit.', 'not enough credit'],
  ['<html>', ''],
  [' \n<html>', ''],
  ['', ''],
  [' ', ''],
  ['{"message":', ''],
  ['"text"', ''],
];
test('reads the reason of a refusal from its JSON or plain text, but not from an HTML page', () =>
  everyRow(
    REASONS,
    ([text]) => JSON.stringify(text),
    ([text, reason]) => expect(reasonIn(text, reasonsIn)).toBe(reason),
  ));

const refused = Object.fromEntries(
  ['unauthorized', 'unpaid', 'forbidden', 'moved', 'too_large', 'busy', 'failed', 'not_accepted'].map((refusal) => [
    refusal,
    ['bad_response', () => refusal] as const,
  ]),
);
const PEER = {
  service: { name: 'Service', keySetting: 'KEY', urlSetting: 'URL' },
  kind: { reasonsIn, refusals: refused, onWrongAnswer: () => '' },
  apiKey: 'secret',
} as unknown as Peer;

test('returns a 2xx response, and reports any other status as a fault without the key', () =>
  everyRow([199, 200, 204, 299, 300, 401], String, async (status) => {
    const bytes = async () => Buffer.from('{"message":"secret is no key"}');
    const egress = { request: async () => ({ status, headers: { 'retry-after': '7' }, bytes }) as never };
    const result = await call(egress, { url: 'u', maxBytes: 1, timeoutMs: 1 }, PEER).catch((error: unknown) => error);
    if (status >= 200 && status < 300) expect(result).toMatchObject({ status });
    else
      expect(result).toMatchObject({ message: expect.stringMatching(/“… is no key”\)\. \(HTTP/), retryAfterMs: 7000 });
  }));

test('sends JSON with its type, and never follows a redirect with the key', async () => {
  const sent: Record<string, unknown>[] = [];
  const egress = {
    request: async (request: object) => {
      sent.push({ ...request });
      return { status: 200, headers: {}, bytes: async () => Buffer.from('') } as never;
    },
  };
  const { signal } = new AbortController();
  const request = { url: 'u', maxBytes: 1, timeoutMs: 2, signal } as const;
  await call(egress, { ...request, method: 'POST', json: { a: 1 }, headers: { 'x-key': 'k' } }, PEER);
  await call(egress, { ...request, body: 'text', headers: { accept: 'text/vtt' } }, PEER);
  const common = { url: 'u', maxBytes: 1, totalTimeoutMs: 2, redirects: 'answer', signal };
  const headers = { accept: 'application/json', 'content-type': 'application/json', 'x-key': 'k' };
  expect(sent).toEqual([
    { ...common, method: 'POST', body: '{"a":1}', headers },
    { ...common, body: 'text', headers: { accept: 'text/vtt' } },
  ]);
});
