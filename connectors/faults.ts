/** Faults that connectors have in common. */
import { Fault } from '../contract/failures.js';
import { asText, type Json } from './json.js';

/**
 * A success that lacks what was asked for. An empty list in its place would delete all that the list should have held.
 * @param source its name, as sentences call it
 */
export const incompleteAnswer = (source: string, lacking: string): Fault =>
  new Fault('server_error', `${source} gave an answer without ${lacking}. It is tried again by itself.`);

/**
 * Returns the list that an answer must hold.
 * @throws Fault server_error for anything else: `{}` is what gateways send while their servers start
 */
export function requireList(source: string, value: unknown, lacking = 'a list'): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  throw incompleteAnswer(source, lacking);
}

/** Returns an answer about one thing, which has an id. @throws Fault server_error for one without */
export function requireId(source: string, json: Json, lacking: string): Json {
  if (asText(json['id']) !== null || typeof json['id'] === 'number') return json;
  throw incompleteAnswer(source, lacking);
}

/** The item does not exist, or the account may not see it. A listing that meets it deletes the item. */
export const noSuchItem = (source: string): Fault =>
  new Fault('not_found', `${source} has no such item for the connected account. It may have been deleted.`);

export const isFault = (error: unknown, kind: Fault['kind']): boolean => error instanceof Fault && error.kind === kind;
