import type { Example } from '../../api/openapi/examples.js';
import type { DocumentedCall } from './exampleFaults.js';
import { redact } from './redact.js';

/** A successful call of a test, as recorded by test/support/recordedCalls.ts. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly response: unknown;
  readonly baseUrl: string;
}

/** Preferred length of request and response as JSON: long enough to show the fields, and short enough to read. */
const PREFERRED_LENGTH = 600;
/** Penalty for an example without content, which shows less than any example with content. */
const EMPTY_PENALTY = 1_000_000;
const NO_FIELDS_PENALTY = 100_000;

/** Returns the values of a path's parameters; null if the path belongs to another operation. */
function inPath(template: string, path: string): Record<string, string> | null {
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const match = new RegExp(`^${template.replaceAll(/\{\w+\}/g, '([^/]+)')}$`).exec(path);
  return match && Object.fromEntries(names.map((name, index) => [name, decodeURIComponent(match[index + 1] ?? '')]));
}

/** Converts a text in a path or query to the type of its parameter. */
function typed(text: string, type: unknown): unknown {
  const types = [type].flat();
  if (types.includes('integer') || types.includes('number')) return Number(text);
  return types.includes('boolean') ? text === 'true' : text;
}

function toExample({ described, path }: DocumentedCall, call: Call): Example | null {
  const [pathname = '', search = ''] = call.path.split('?');
  const values = inPath(path, pathname);
  if (!values) return null;
  const documented = described.parameters ?? [];
  const all = Object.entries({ ...values, ...Object.fromEntries(new URLSearchParams(search)) }).filter(([name]) =>
    documented.some((parameter) => parameter.name === name),
  );
  const parameters = Object.fromEntries(
    all.map(([name, text]) => [
      name,
      typed(text, documented.find((parameter) => parameter.name === name)?.schema?.type),
    ]),
  );
  const clean = (value: unknown): unknown => redact(value, call.baseUrl);
  return {
    ...(all.length > 0 ? { parameters: clean(parameters) as Record<string, unknown> } : {}),
    // Tests send {} to operations without a body, which ignore it.
    ...(call.body === undefined || !described.requestBody ? {} : { request: clean(call.body) }),
    response: clean(call.response),
  };
}

const isEmpty = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.length === 0
    : typeof value === 'object' &&
      value !== null &&
      Object.values(value).some((member) => Array.isArray(member) && member.length === 0) &&
      Object.keys(value).length <= 3;

/** Returns how much worse an example is than one of the preferred length with content. */
function costOf({ request, response }: Example): number {
  const hasFields = request === undefined || Object.keys(request as object).length > 0;
  const distance = Math.abs(JSON.stringify([request, response]).length - PREFERRED_LENGTH);
  return distance + (isEmpty(response) ? EMPTY_PENALTY : 0) + (hasFields ? 0 : NO_FIELDS_PENALTY);
}

/**
 * Returns the valid example closest to the preferred length, with content if possible; null if no call of the operation
 * gives a valid example.
 */
export function chooseExample(
  documented: DocumentedCall,
  calls: readonly Call[],
  faultsOf: (documented: DocumentedCall, example: Example) => readonly string[],
): Example | null {
  const needsBody = documented.described.requestBody?.content['application/json'] !== undefined;
  const examples = calls
    .filter(({ method }) => method.toLowerCase() === documented.method)
    .flatMap((call) => toExample(documented, call) ?? [])
    .filter((example) => (!needsBody || example.request !== undefined) && faultsOf(documented, example).length === 0);
  return examples.toSorted((a, b) => costOf(a) - costOf(b))[0] ?? null;
}
