import { setMaxListeners } from 'node:events';

/**
 * Calls `act` once when the signal aborts, immediately if it already has. The returned function removes the listener. A
 * batch passes one signal to many requests, so Node's warning of more than ten listeners is off.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act();
    return () => undefined;
  }
  setMaxListeners(0, signal);
  signal.addEventListener('abort', act, { once: true });
  return () => {
    signal.removeEventListener('abort', act);
  };
}
