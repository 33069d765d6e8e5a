import { setTimeout as sleep } from 'node:timers/promises';

import { Fault, type FaultKind } from '../../contract/failures.js';
import { retryAfterMs } from '../../egress/retryAfter.js';
import { statedReason } from '../../egress/statedReason.js';
import type { Egress } from '../../egress/types.js';
import { member } from './members.js';
import type { LookupService, Reply, ServiceClient, ServiceSettings } from './types.js';

/** Of an answer; a transcript of ten hours has about two million. */
const MAX_ANSWER_BYTES = 20_000_000;

export interface Question {
  readonly service: LookupService;
  readonly settings: ServiceSettings;
  readonly egress: Pick<Egress, 'request'>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export function createServiceClient({ service, settings, egress, timeoutMs, signal }: Question): ServiceClient {
  const deadline = Date.now() + timeoutMs;
  const { name, urlSetting } = service;
  const wrong = (what: string): Fault =>
    new Fault(
      'server_error',
      `${name} gave a wrong answer: ${what}. Nothing of it was used. Ask again; if it stays, have the setting ${urlSetting} checked.`,
    );
  return {
    async get(path, query = {}) {
      const answer = await egress.request({
        url: `${settings.baseUrl}${path}?${new URLSearchParams(query).toString()}`,
        headers: {
          accept: 'application/json, text/vtt',
          ...(settings.apiKey === null ? {} : service.headers?.(settings.apiKey)),
        },
        maxBytes: MAX_ANSWER_BYTES,
        totalTimeoutMs: Math.max(1, deadline - Date.now()),
        // The key and the question go where the setting says, and nowhere else.
        redirects: 'answer',
        ...(signal ? { signal } : {}),
      });
      const reply = {
        status: answer.status,
        headers: answer.headers,
        text: Buffer.from(await answer.bytes()).toString(),
      };
      if (reply.status < 200 || reply.status >= 300) throw refusal(service, reply, settings.apiKey);
      return reply;
    },
    json({ text }) {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        throw wrong('no whole JSON');
      }
    },
    wrong,
    async pause(ms) {
      if (Date.now() + ms >= deadline)
        throw new Fault('timed_out', `${name} was not done within ${timeoutMs / 1000} s. Ask again later.`);
      await sleep(ms, undefined, signal ? { signal } : {});
    },
  };
}

/** What a status other than 2xx means. */
function refusal(service: LookupService, reply: Reply, apiKey: string | null): Fault {
  const { name, keySetting, urlSetting } = service;
  const { status, headers } = reply;
  const waitMs = service.waitMs?.(headers) ?? retryAfterMs(headers);
  // Some say the key that they refuse.
  const reason = statedReason(apiKey === null ? reply.text : reply.text.replaceAll(apiKey, '…'), reasonsIn);
  const quoted = reason === '' ? '' : ` (“${reason}”)`;
  const fault = (kind: FaultKind, sentence: string): Fault =>
    new Fault(kind, `${name} ${sentence}${quoted}. (HTTP ${status})`, waitMs === null ? {} : { retryAfterMs: waitMs });
  const own = service.refusal?.(reply);
  if (own) return fault(own.kind, own.sentence);
  if (status === 401 || status === 403)
    return fault('access_denied', `refuses ${keySetting === null ? 'us' : `the key of the setting ${keySetting}`}`);
  if (status === 402) return fault('access_denied', `wants the account behind ${keySetting ?? urlSetting} topped up`);
  if (status === 429 || (status === 503 && waitMs !== null))
    return fault('rate_limited', 'takes no more requests for now. Ask again later');
  if (status >= 500 || status === 408) return fault('server_error', 'failed. Ask again later');
  return fault('bad_response', `did not take the request. Have the setting ${urlSetting} checked`);
}

/** {error: {detail}} (Brave), {details} or {message} (Supadata), {error} (Invidious, SearXNG). */
function reasonsIn(body: unknown): unknown[] {
  const error = member(body, 'error');
  return [member(error, 'detail'), member(body, 'details'), member(body, 'message'), error];
}
