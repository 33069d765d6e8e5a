/** Faults that connectors have in common. */
import { Fault } from '../contract/failures.js';

/**
 * A success that lacks what was asked for. An empty list in its place would delete all that the list should have held.
 * @param source its name, as sentences call it
 */
export const incompleteAnswer = (source: string, lacking: string): Fault =>
  new Fault('server_error', `${source} gave an answer without ${lacking}. It is tried again by itself.`);

/** The item does not exist, or the account may not see it. A listing that meets it deletes the item. */
export const noSuchItem = (source: string): Fault =>
  new Fault('not_found', `${source} has no such item for the connected account. It may have been deleted.`);

export const isFault = (error: unknown, kind: Fault['kind']): boolean => error instanceof Fault && error.kind === kind;
