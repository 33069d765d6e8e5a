/** Successful calls of the tests, from which `npm run docs:examples` takes the examples of the API reference. */
import { appendFileSync } from 'node:fs';

/** A call and its successful response. */
export interface RecordedCall {
  readonly method: string;
  /** Path with its query. */
  readonly path: string;
  /** Body as sent; absent if there was none. */
  readonly body?: unknown;
  /** Undefined for stored content, which is not JSON. */
  readonly response: unknown;
  /** Address of the service, which examples replace. */
  readonly baseUrl: string;
}

/** Larger calls are not recorded, because they are not readable as examples. */
const MAX_BYTES = 20_000;
/** Maximum number of recorded calls of one operation and suite. */
const MAX_CALLS = 30;

const counts = new Map<string, number>();

/** Appends a call as a line of JSON to the file that TEST_EXAMPLES names; does nothing without it. */
export function recordCall(call: RecordedCall): void {
  const file = process.env['TEST_EXAMPLES'];
  if (file === undefined) return;
  const operation = `${call.method} ${call.path.replace(/\?.*/, '').replaceAll(/\/\d+/g, '/0')}`;
  const count = counts.get(operation) ?? 0;
  const line = JSON.stringify(call);
  if (count >= MAX_CALLS || line.length > MAX_BYTES) return;
  counts.set(operation, count + 1);
  appendFileSync(file, `${line}\n`);
}
