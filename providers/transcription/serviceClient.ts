import type { Egress } from '../../egress/types.js';
import { member } from '../members.js';
import { call, readJson, type Service, type ServiceKind, type ServiceRequest } from '../serviceClient.js';
import type { ServiceSettings } from './types.js';

/** Maximum size of an answer; the transcript of a day has tens of megabytes. */
const MAX_ANSWER_BYTES = 200_000_000;

const TRANSCRIPTION: ServiceKind = {
  reasonsIn: (body) => ['err_msg', 'error', 'message', 'details', 'reason'].map((name) => member(body, name)),
  refusals: {
    unauthorized: [
      'not_configured',
      ({ keySetting }) => `refuses the key of the setting ${keySetting}. Have it corrected, then resync`,
    ],
    forbidden: [
      'not_configured',
      ({ keySetting }) => `refuses the key of the setting ${keySetting}. Have it corrected, then resync`,
    ],
    unpaid: [
      'not_configured',
      ({ keySetting }) => `wants the account behind ${keySetting} topped up first. Then resync`,
    ],
    too_large: [
      'too_large',
      () => 'takes no recording of this size. Split it, or send its sound alone, and upload that',
    ],
    busy: ['rate_limited', () => 'accepts no more work at the moment. It is tried again later'],
    failed: [
      'server_error',
      () => 'failed at this recording. Try again later, or choose another transcription_service',
    ],
    moved: [
      'bad_response',
      ({ urlSetting }) => `is not where the setting ${urlSetting} says. Have it corrected, then resync`,
    ],
    not_accepted: [
      'broken_content',
      () => 'could not read this recording. Check that it plays, or save it in another format, and upload that',
    ],
  },
  onWrongAnswer: () => 'It is asked again; if that lasts, have its status page checked',
};

/** Calls one service. */
export interface ServiceClient {
  /** Returns the JSON of a 2xx. @throws Fault for any other answer */
  call(
    request: Omit<ServiceRequest, 'url' | 'maxBytes' | 'signal'> & { readonly path: string },
    signal: AbortSignal,
  ): Promise<unknown>;
}

export function createServiceClient(
  service: Service,
  { apiKey, baseUrl }: Pick<ServiceSettings, 'apiKey' | 'baseUrl'>,
  authorization: string,
  egress: Pick<Egress, 'request'>,
): ServiceClient {
  const peer = { service, kind: TRANSCRIPTION, apiKey };
  return {
    async call({ path, headers, ...request }, signal) {
      const url = `${baseUrl}${path}`;
      const sent = { ...request, url, signal, headers: { ...headers, authorization }, maxBytes: MAX_ANSWER_BYTES };
      return readJson(await call(egress, sent, peer), peer);
    },
  };
}
