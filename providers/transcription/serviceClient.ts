import { Fault, type FaultKind } from '../../contract/failures.js';
import type { Egress, EgressRequest, EgressResponse } from '../../egress/types.js';
import type { ServiceSettings } from './types.js';

/** What the sentences about a service call it and its settings. */
export interface ServiceNames {
  /** As people call it. */
  readonly name: string;
  readonly keySetting: string;
  readonly urlSetting: string;
}

export interface ServiceCall extends Pick<EgressRequest, 'method' | 'headers' | 'body' | 'bodyBytes'> {
  readonly path: string;
  readonly timeoutMs: number;
}

/** Of an answer; the transcript of a day has some tens of megabytes. */
const MAX_ANSWER_BYTES = 200_000_000;
const SHOWN_CHARACTERS = 300;

/** Calls one service and tells what its answers mean. */
export interface ServiceClient {
  /** The answer of a 2xx, read. @throws Fault for any other, and for one that is no JSON */
  call(call: ServiceCall, signal: AbortSignal): Promise<unknown>;
}

/** What the body of a refusal says, in the fields that services use. */
function wordsOf(text: string): string {
  let said = text;
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    const field = ['err_msg', 'error', 'message', 'details', 'reason'].find((name) => typeof body[name] === 'string');
    if (field !== undefined) said = String(body[field]);
  } catch {
    // Not JSON: shown as it is, unless it is a page of a proxy.
    if (/^\s*</.test(text)) said = '';
  }
  const line = said.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
  return line.length > SHOWN_CHARACTERS ? `${line.slice(0, SHOWN_CHARACTERS)}…` : line;
}

/** Seconds or a date, as milliseconds from now; null when it is neither. */
function retryAfter(header: string | undefined): number | null {
  const value = (header ?? '').trim();
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = /^[A-Z][a-z]{2},/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - Date.now());
}

/** What a status other than 2xx means. `said` is what the service adds to it. */
function statusFault(
  { name, keySetting, urlSetting }: ServiceNames,
  { status, headers }: EgressResponse,
  said: string,
): Fault {
  const quoted = said === '' ? '' : ` (“${said}”)`;
  const fault = (kind: FaultKind, sentence: string): Fault => {
    const wait = kind === 'rate_limited' ? retryAfter(headers['retry-after']) : null;
    const message = `${name} ${sentence}${quoted}. (HTTP ${String(status)})`;
    return new Fault(kind, message, wait === null ? {} : { retryAfterMs: wait });
  };
  if (status === 401 || status === 403)
    return fault('not_configured', `refuses the key of the setting ${keySetting}. Have it corrected, then resync`);
  if (status === 402)
    return fault('not_configured', `wants the account behind ${keySetting} topped up first. Then resync`);
  if (status === 413)
    return fault('too_large', 'takes no recording of this size. Split it, or send its sound alone, and upload that');
  if (status === 429) return fault('rate_limited', 'was asked for too much at once. It is tried again later');
  if (status === 503 && retryAfter(headers['retry-after']) !== null)
    return fault('rate_limited', 'takes no work at the moment. It is tried again later');
  if (status >= 500 || status === 408)
    return fault('server_error', 'failed at this recording. Try again later, or choose another transcription_service');
  if (status === 404 || status === 405 || (status >= 300 && status < 400))
    return fault('bad_response', `is not where the setting ${urlSetting} says. Have it corrected, then resync`);
  return fault(
    'broken_content',
    'could not read this recording. Check that it plays, or save it in another format, and upload that',
  );
}

export function createServiceClient(
  names: ServiceNames,
  { baseUrl }: Pick<ServiceSettings, 'baseUrl'>,
  authorization: string,
  egress: Pick<Egress, 'request'>,
): ServiceClient {
  return {
    async call({ path, timeoutMs, headers = {}, ...request }, signal) {
      const answer = await egress.request({
        ...request,
        url: `${baseUrl}${path}`,
        headers: { accept: 'application/json', ...headers, authorization },
        signal,
        // The key and the recording go where the setting says, and nowhere else.
        redirects: 'answer',
        maxBytes: MAX_ANSWER_BYTES,
        totalTimeoutMs: timeoutMs,
      });
      const text = Buffer.from(await answer.bytes()).toString('utf8');
      if (answer.status < 200 || answer.status >= 300) throw statusFault(names, answer, wordsOf(text));
      try {
        return JSON.parse(text) as unknown;
      } catch (error) {
        throw new Fault(
          'server_error',
          `The answer of ${names.name} came broken. It is asked for again; if that lasts, have its status page looked at.`,
          { cause: error },
        );
      }
    },
  };
}
