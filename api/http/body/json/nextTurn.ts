/** Resolves in the next turn of the event loop, so that other requests run in between. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
