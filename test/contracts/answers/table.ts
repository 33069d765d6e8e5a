import type { EmulatedAnswer } from '../../emulators/emulator.js';
import { operationOf, type Contract } from '../contract.js';
import { type Shape, shapeProblems } from './shape.js';

/** The response schemas of one specification, for the operations of its table of requests. */
export interface AnswerTable {
  /** Name of the table of requests. */
  readonly name: string;
  /** Address of the published schemas. */
  readonly specification: string;
  readonly version: string;
  /** Date on which the facts were taken, as YYYY-MM-DD. */
  readonly taken: string;
  /** Query parameter that selects fields, separated by commas. */
  readonly selection?: string;
  /** The shape of refusals: answers whose status is not 2xx or 3xx. */
  readonly refusal: Shape;
  /** Statuses of refusals whose body is text. */
  readonly textRefusals?: readonly number[];
  /**
   * Shapes of successful answers, by operation, or how they follow from its address. Operations that answer with the bytes of a
   * file are omitted.
   */
  readonly operations: Readonly<Record<string, Shape | ((url: URL) => Shape)>>;
}

/** Returns how an answer differs from the published schema; empty if it does not, or if its operation has none. */
export function answerProblems(
  { operations, refusal, textRefusals = [], selection }: AnswerTable,
  contract: Contract,
  path: string,
  { method, url, status, text }: EmulatedAnswer,
): string[] {
  if (contract.elsewhere !== undefined && new RegExp(contract.elsewhere).test(path)) return [];
  const name = operationOf(contract, method, path);
  const known = status >= 400 ? refusal : name === null ? undefined : operations[name];
  if (known === undefined || (status >= 300 && status < 400) || textRefusals.includes(status)) return [];
  const asked = new URL(url);
  const shape = typeof known === 'function' ? known(asked) : known;
  const selected = selection === undefined ? null : asked.searchParams.get(selection);
  try {
    const problems = shapeProblems(shape, JSON.parse(text), 'answer', selected?.split(',') ?? null);
    return problems.map((problem) => `${name ?? path} ${status}: ${problem}`);
  } catch {
    return [`${name ?? path} ${status}: the answer is not JSON`];
  }
}
