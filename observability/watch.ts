/** One call to something outside this process, in words of which there are few. */
export interface WatchedCall {
  readonly system: 'mongodb' | 'qdrant' | 'http';
  /** A command, an operation or a method. */
  readonly operation: string;
  /** What it is about: a collection or a host. Never a path, a query or a value of anybody's. */
  readonly target: string;
}

/** How a call ended. */
export interface CallEnd {
  readonly failed: boolean;
  /** Of HTTP, where there was an answer. */
  readonly status?: number;
}

/** Is told as a call begins; what it gives back is told, once, how that ended. */
export type Watch = (call: WatchedCall) => (end: CallEnd) => void;

/** One that tells several; null where there is nobody to tell, so that nothing is spent on it. */
export function watchAll(watches: readonly (Watch | null)[]): Watch | null {
  const present = watches.filter((one) => one !== null);
  if (present.length < 2) return present[0] ?? null;
  return (call) => {
    const ends = present.map((begin) => begin(call));
    return (end) => ends.forEach((tell) => tell(end));
  };
}

/** Watches a piece of work that ends with its promise. */
export async function watched<T>(watch: Watch | null, call: WatchedCall, work: () => Promise<T>): Promise<T> {
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
