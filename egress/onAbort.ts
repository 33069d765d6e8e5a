import { setMaxListeners } from 'node:events';

/**
 * Acts once when the signal aborts, at once when it already has. The returned function lets go. A batch hands one
 * signal to many requests, so Node's warning of more than ten listeners is off: each is taken back here.
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
