import { setTimeout as sleep } from 'node:timers/promises';

import { Fault } from '../../contract/failures.js';
import type { Egress } from '../../egress/types.js';
import { member } from '../members.js';
import { call, readJson, type Service, type ServiceKind, wrongAnswer } from '../serviceClient.js';
import type { LookupService, ServiceClient, ServiceSettings } from './types.js';

/** Maximum size of a response in bytes; a transcript of ten hours has about two million. */
const MAX_ANSWER_BYTES = 20_000_000;

const LOOKUP: ServiceKind = {
  // The forms of an error: {error: {detail}} (Brave), {details} or {message} (Supadata), {error} (Invidious, SearXNG).
  reasonsIn(body) {
    const error = member(body, 'error');
    return [member(error, 'detail'), member(body, 'details'), member(body, 'message'), error];
  },
  refusals: {
    unauthorized: ['access_denied', refusesKey],
    forbidden: ['access_denied', refusesKey],
    unpaid: [
      'access_denied',
      ({ keySetting, urlSetting }) => `has no credit left in the account behind ${keySetting ?? urlSetting}`,
    ],
    busy: ['rate_limited', () => 'accepts no more requests at the moment. Try again later'],
    failed: ['server_error', () => 'failed. Try again later'],
    moved: ['bad_response', notAccepted],
    too_large: ['bad_response', notAccepted],
    not_accepted: ['bad_response', notAccepted],
  },
  onWrongAnswer: ({ urlSetting }) => `Try again. If it happens again, check the setting ${urlSetting}`,
};

function refusesKey({ keySetting }: Service): string {
  return `refuses ${keySetting === null ? 'requests of this service' : `the key of the setting ${keySetting}`}`;
}
function notAccepted({ urlSetting }: Service): string {
  return `rejected the request. Check the setting ${urlSetting}`;
}

export interface Question {
  readonly service: LookupService;
  readonly settings: ServiceSettings;
  readonly egress: Pick<Egress, 'request'>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

export function createServiceClient({ service, settings, egress, timeoutMs, signal }: Question): ServiceClient {
  const deadline = Date.now() + timeoutMs;
  const peer = {
    service,
    kind: LOOKUP,
    apiKey: settings.apiKey,
    ...(service.refusal && { refusal: service.refusal }),
    ...(service.waitMs && { waitMs: service.waitMs }),
  };
  return {
    get(path, query = {}) {
      const request = {
        url: `${settings.baseUrl}${path}?${new URLSearchParams(query).toString()}`,
        headers: {
          accept: 'application/json, text/vtt',
          ...(settings.apiKey === null ? {} : service.headers?.(settings.apiKey)),
        },
        maxBytes: MAX_ANSWER_BYTES,
        timeoutMs: Math.max(1, deadline - Date.now()),
        signal,
      };
      return call(egress, request, peer);
    },
    json: (reply) => readJson(reply, peer),
    wrong: (defect) => wrongAnswer(defect, peer),
    async pause(ms) {
      if (Date.now() + ms >= deadline)
        throw new Fault('timed_out', `${service.name} did not finish within ${timeoutMs / 1000} s. Ask again later.`);
      await sleep(ms, undefined, signal ? { signal } : {});
    },
  };
}
