/** A call to another process, as labels of low cardinality. */
export interface ObservedCall {
  readonly system: 'mongodb' | 'qdrant' | 'http';
  /** Name of a command, an operation or an HTTP method. */
  readonly operation: string;
  /** A collection or a host, never a path, a query or a value. */
  readonly target: string;
}

/** Result of a call. */
export interface CallEnd {
  readonly failed: boolean;
  /** HTTP status, if there was a response. */
  readonly status?: number;
}

/** Called when a call begins; the returned function is called once with its result. */
export type CallObserver = (call: ObservedCall) => (end: CallEnd) => void;

/** Combines several observers into one; null if there are none, so that unobserved calls cost nothing. */
export function combineObservers(watches: readonly (CallObserver | null)[]): CallObserver | null {
  const present = watches.filter((watch) => watch !== null);
  if (present.length < 2) return present[0] ?? null;
  return (call) => {
    const ends = present.map((begin) => begin(call));
    return (end) => ends.forEach((report) => report(end));
  };
}

/** Runs `work`, and reports its beginning and its end to the observer. */
export async function observe<T>(watch: CallObserver | null, call: ObservedCall, work: () => Promise<T>): Promise<T> {
  if (watch === null) return work();
  const ended = watch(call);
  try {
    const result = await work();
    ended({ failed: false });
    return result;
  } catch (error) {
    ended({ failed: true });
    throw error;
  }
}
