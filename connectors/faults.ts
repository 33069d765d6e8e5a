/** Faults that connectors have in common. */
import { Fault } from '../contract/failures.js';
import { asText, type Json } from './json.js';

/**
 * Returns the fault for a successful answer that lacks the requested data. Treating it as an empty list would delete
 * all items that the list should have contained.
 * @param source its name in sentences
 */
export const incompleteAnswer = (source: string, lacking: string): Fault =>
  new Fault('server_error', `${source} gave an answer without ${lacking}. The request is retried automatically.`);

/**
 * Returns the list that an answer must contain.
 * @throws Fault server_error otherwise: gateways send `{}`, for example, while their servers start
 */
export function requireList(source: string, value: unknown, lacking = 'a list'): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  throw incompleteAnswer(source, lacking);
}

/** Returns an answer about one object, which must have an id. @throws Fault server_error for one without */
export function requireId(source: string, json: Json, lacking: string): Json {
  if (asText(json['id']) !== null || typeof json['id'] === 'number') return json;
  throw incompleteAnswer(source, lacking);
}

/**
 * Returns the fault for an item that does not exist or is inaccessible. If a connector throws it while a sync lists the
 * item, the sync treats the item as deleted at the source.
 */
export const noSuchItem = (source: string): Fault =>
  new Fault('not_found', `${source} has no such item for the connected account. It may have been deleted.`);

export const isFault = (error: unknown, ...kinds: readonly Fault['kind'][]): boolean =>
  error instanceof Fault && kinds.includes(error.kind);
