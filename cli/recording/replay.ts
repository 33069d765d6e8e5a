/** Replays a recording: the same steps with the same connector, and the recorded responses. */
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import { createConnectors } from '../../connectors/registry.js';
import type { Egress } from '../../egress/types.js';
import { withClock } from './clock.js';
import type { RawResponse, RawRequest } from './exchanges.js';
import { bytesOf, type Exchange, type Recording, type StepName } from './fixture.js';
import { isSameText } from './redaction/match.js';
import { runSteps } from './steps.js';
import { decode } from './redaction/words.js';

/** Maximum size of an item that is recorded, in bytes. */
export const MAX_ITEM_BYTES = 1_000_000;

/** A recording without its requests and results. */
export type Draft = Omit<Recording, 'steps'> & {
  readonly steps: readonly { readonly name: StepName; readonly at: string }[];
};

export interface Replayed {
  readonly name: StepName;
  /** The connector's result, as JSON. */
  readonly outcome: unknown;
}

/**
 * Runs the steps of a recording. @param egress answers the requests @param onStep called when a step begins
 * @throws Fault, or Error
 */
export async function replaySteps(
  { source, urls, credentials, limits, hasChanges, steps }: Draft,
  egress: Pick<Egress, 'request'>,
  onStep: (step: StepName) => void,
): Promise<Replayed[]> {
  const sourceUrls = { ...readSourceUrls(''), [source]: urls };
  const connectors = createConnectors({ egress, urls: sourceUrls, maxItemBytes: MAX_ITEM_BYTES });
  const account = connectors.account(source, 'recording', JSON.stringify(credentials));
  const outcomes: Replayed[] = [];
  await withClock((clock) =>
    runSteps(account, limits, new AbortController().signal, {
      enter(step) {
        const startedAt = steps.find(({ name }) => name === step)?.at;
        if (startedAt !== undefined) clock.set(Date.parse(startedAt));
        onStep(step);
      },
      leave(name, outcome) {
        outcomes.push({ name, outcome: JSON.parse(JSON.stringify(outcome)) as unknown });
      },
      change: hasChanges ? () => Promise.resolve() : null,
    }),
  );
  return outcomes;
}

/** Answers requests from a recording, each exchange once. */
export interface Replayer {
  enter(step: StepName): void;
  /** Returns the recorded response. A request that was not recorded gets 400, and is a problem. */
  answer(asked: RawRequest): RawResponse;
  /** Requests that were not recorded, and recorded requests that were not sent. */
  problems(): readonly string[];
}

const isSameRequest = ({ request }: Exchange, { method, url, headers, body }: RawRequest): boolean =>
  request.method === method &&
  isSameText(decode(request.url), decode(url)) &&
  isSameText(request.body ?? '', body ?? '') &&
  Object.entries(request.headers).every(([name, value]) => isSameText(value, headers[name] ?? ''));

/** Creates the replayer of a recording. */
export function createReplayer({ steps }: Pick<Recording, 'steps'>): Replayer {
  const problems: string[] = [];
  let step: StepName | null = null;
  let pending: Exchange[] = [];
  const close = (): void => {
    for (const { request } of pending) problems.push(`${step}: ${request.method} ${request.url} was not requested`);
  };
  return {
    enter(name) {
      close();
      step = name;
      pending = [...(steps.find((one) => one.name === name)?.exchanges ?? [])];
    },
    answer(asked) {
      const index = pending.findIndex((exchange) => isSameRequest(exchange, asked));
      const [exchange] = index < 0 ? [] : pending.splice(index, 1);
      if (exchange) {
        const { status, headers, body } = exchange.response;
        return { status, headers, bytes: bytesOf(body) };
      }
      problems.push(`${step}: ${asked.method} ${asked.url} ${asked.body ?? ''} was not recorded`);
      return { status: 400, headers: {}, bytes: Buffer.from('{}') };
    },
    problems() {
      close();
      pending = [];
      return problems;
    },
  };
}
