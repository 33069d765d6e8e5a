import type { Egress } from '../../egress/types.js';
import { member } from '../members.js';
import { call, type Peer, readJson, type Service, type ServiceKind, type ServiceRequest } from '../serviceClient.js';
import type { ServiceSettings } from './types.js';

/** Maximum size of an answer; the transcript of a day has tens of megabytes. */
const MAX_ANSWER_BYTES = 200_000_000;

const TRANSCRIPTION: ServiceKind = {
  reasonsIn: (body) => ['err_msg', 'error', 'message', 'details', 'reason'].map((name) => member(body, name)),
  refusals: {
    unauthorized: [
      'not_configured',
      ({ keySetting }) => `rejects the key of the setting ${keySetting}. Correct it, then resync`,
    ],
    forbidden: [
      'not_configured',
      ({ keySetting }) => `rejects the key of the setting ${keySetting}. Correct it, then resync`,
    ],
    unpaid: [
      'not_configured',
      ({ keySetting }) => `has no credit left in the account behind ${keySetting}. Top it up, then resync`,
    ],
    too_large: [
      'too_large',
      () => 'does not accept a recording of this size. Split it or extract the sound, and upload that',
    ],
    busy: ['rate_limited', () => 'accepts no more work at the moment. The recording is retried later'],
    failed: [
      'server_error',
      () => 'failed at this recording. Try again later, or choose another transcription_service',
    ],
    moved: [
      'bad_response',
      ({ urlSetting }) => `was not found at the address in the setting ${urlSetting}. Correct it, then resync`,
    ],
    not_accepted: [
      'broken_content',
      () => 'could not read this recording. Check that it plays, or save it in another format, and upload that',
    ],
  },
  onWrongAnswer: () => 'The request is retried. If it keeps failing, check the status page of the service',
};

/** Calls one service. */
export interface ServiceClient {
  /**
   * Sends one request and returns the JSON of the response. @throws Fault for a status other than 2xx, or invalid JSON
   */
  call(
    request: Omit<ServiceRequest, 'url' | 'maxBytes' | 'signal'> & Pick<Peer, 'refusal'> & { readonly path: string },
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
    async call({ path, headers, refusal, ...request }, signal) {
      const url = `${baseUrl}${path}`;
      const sent = { ...request, url, signal, headers: { ...headers, authorization }, maxBytes: MAX_ANSWER_BYTES };
      return readJson(await call(egress, sent, { ...peer, ...(refusal && { refusal }) }), peer);
    },
  };
}
