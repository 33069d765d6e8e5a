/** Exchanges with a source: recorded as they are, or answered from a recording. */
import type { Egress, EgressRequest } from '../../egress/types.js';
import type { StepName } from './fixture.js';

export interface RawRequest {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The text of the body; null if there is none or it is not text. */
  readonly body: string | null;
}

export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** A request and its response before the redaction. They are kept in memory only. */
export interface RawExchange {
  readonly asked: RawRequest;
  readonly answered: RawResponse;
}

const rawRequestOf = ({ method = 'GET', url, headers = {}, body }: EgressRequest): RawRequest => ({
  method,
  url,
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  body: typeof body === 'string' ? body : null,
});

/** Creates an Egress that gets its responses from a function. */
export const answeringEgress = (answer: (asked: RawRequest) => RawResponse): Pick<Egress, 'request'> => ({
  request(request) {
    request.signal?.throwIfAborted();
    const { status, headers, bytes } = answer(rawRequestOf(request));
    return Promise.resolve({
      status,
      headers,
      url: request.url,
      body: (async function* () {
        yield bytes;
      })(),
      bytes: () => Promise.resolve(bytes),
      discard: () => Promise.resolve(),
    });
  },
});

/** Whether the connector repeats the request after this response. Only the response to the repetition is recorded. */
const isRepeated = ({ status, headers }: RawResponse): boolean =>
  status === 429 || status >= 500 || (status >= 400 && headers['retry-after'] !== undefined);

export interface Recorder {
  /** Sends requests and records them. */
  readonly egress: Pick<Egress, 'request'>;
  /** Begins a step; exchanges of an earlier attempt are dropped. */
  enter(step: StepName): void;
  /** The exchanges of each step, in the order of their responses. */
  readonly steps: ReadonlyMap<StepName, readonly RawExchange[]>;
}

/** Creates a recorder of the exchanges of one account. */
export function createRecorder(egress: Pick<Egress, 'request'>): Recorder {
  const steps = new Map<StepName, RawExchange[]>();
  let current: RawExchange[] = [];
  return {
    steps,
    enter(step) {
      current = [];
      steps.set(step, current);
    },
    egress: {
      async request(request) {
        const into = current;
        const response = await egress.request(request);
        const bytes = await response.bytes();
        const answered = { status: response.status, headers: response.headers, bytes };
        if (!isRepeated(answered)) into.push({ asked: rawRequestOf(request), answered });
        return { ...response, bytes: () => Promise.resolve(bytes) };
      },
    },
  };
}
