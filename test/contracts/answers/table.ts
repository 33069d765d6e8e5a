import type { EmulatedAnswer } from '../../emulators/emulator.js';
import { operationOf, type Contract } from '../contract.js';
import { type Mask, narrowShape, readMask, unknownInMask } from './google/fieldMask.js';
import { type Shape, shapeProblems } from './shape.js';
import { valueOfXml } from './xml.js';

/**
 * The shape of an answer, or a function that returns the shape for an address. Null: the answer is the bytes of a file.
 */
type Answered = Shape | ((url: URL) => Shape | null);

/** The response schemas of one specification, for the operations of its table of requests. */
export interface AnswerTable {
  /** Name of the table of requests. */
  readonly name: string;
  /** Address of the published schemas. */
  readonly specification: string;
  readonly version: string;
  /** Date on which the shapes were taken, as YYYY-MM-DD. */
  readonly takenOn: string;
  /** Query parameter that selects fields, separated by commas. */
  readonly selection?: string;
  /** Set if answers are XML: shapes then describe an object whose only field is the root element. */
  readonly isXml?: true;
  /** Statuses of refusals whose body is text. */
  readonly textRefusals?: readonly number[];
  /**
   * Default selections by operation, for APIs whose query parameter `fields` selects fields at all depths, as in
   * Google's APIs. Without the parameter, operations that are not listed answer with all fields. Unset: other APIs.
   */
  readonly masks?: Readonly<Record<string, string>>;
  /** The shape of refusals: answers whose status is not 2xx or 3xx. */
  readonly refusal: Answered;
  /** Shapes of successful answers, by operation. Operations that answer with the bytes of a file are omitted. */
  readonly operations: Readonly<Record<string, Answered>>;
}

/** Returns how an answer differs from its shape, of which the mask selects fields. */
function maskedProblems(shape: Shape, value: unknown, mask: string): string[] {
  let selected: Mask;
  try {
    selected = readMask(mask);
  } catch (error) {
    return [`fields is ${mask}: ${(error as SyntaxError).message}`];
  }
  const unknown = unknownInMask(shape, selected).map((field) => `fields selects ${field}, not in the specification`);
  return [...unknown, ...shapeProblems(narrowShape(shape, selected), value, 'answer')];
}

/** Returns how an answer differs from the published schema; empty if it does not, or if its operation has none. */
export function answerProblems(
  { operations, refusal, textRefusals = [], selection, masks, isXml }: AnswerTable,
  contract: Contract,
  path: string,
  { method, url, status, text }: EmulatedAnswer,
): string[] {
  if (contract.ignoredPaths !== undefined && new RegExp(contract.ignoredPaths).test(path)) return [];
  const name = operationOf(contract, method, path);
  const answered = status >= 400 ? refusal : name === null ? undefined : operations[name];
  const hasNoBody = status === 204 || (status >= 300 && status < 400);
  if (answered === undefined || hasNoBody || textRefusals.includes(status)) return [];
  const requestUrl = new URL(url);
  const shape = typeof answered === 'function' ? answered(requestUrl) : answered;
  if (shape === null) return [];
  const selected = selection === undefined ? null : requestUrl.searchParams.get(selection);
  const mask = requestUrl.searchParams.get('fields') ?? masks?.[name ?? ''] ?? '*';
  const problemsOf = (value: unknown): string[] =>
    masks !== undefined && status < 300
      ? maskedProblems(shape, value, mask)
      : shapeProblems(shape, value, 'answer', selected?.split(',') ?? null);
  let value: unknown;
  try {
    value = isXml ? valueOfXml(text, shape) : JSON.parse(text);
  } catch {
    return [`${name ?? path} ${status}: the answer is not ${isXml ? 'XML' : 'JSON'}`];
  }
  return problemsOf(value).map((problem) => `${name ?? path} ${status}: ${problem}`);
}
