import type { Fault, FaultKind } from '../../contract/failures.js';

/** Whether an error is a Fault. The compiled service has its own Fault class, so `instanceof` does not suffice. */
export const isFault = (error: unknown): error is Fault => (error as Partial<Fault> | null)?.name === 'Fault';

/** Returns the Fault that a call rejects with. Throws if the call succeeds, or rejects with another error or kind. */
export async function faultOf(call: Promise<unknown>, kind?: FaultKind): Promise<Fault> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!isFault(error)) throw new Error(`no Fault: ${String(error)}`, { cause: error });
  if (kind !== undefined && error.kind !== kind)
    throw new Error(`expected ${kind}, got ${error.kind}: ${error.message}`, { cause: error });
  return error;
}
