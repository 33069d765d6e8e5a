/** The results of store methods by path, such as `files.byIds`: a value, or a function of the call's arguments. */
export type Answers = Readonly<Record<string, unknown>>;

/** The error of a failing call. */
export const STORE_DOWN = new Error('The store does not answer');

const MEMBERS = [
  ...['runs', 'files', 'dataSources', 'attempts', 'frontier', 'pauses', 'heldRuns', 'uploadStreams', 'stalls'],
  ...['workers', 'originals', 'contents', 'chunks', 'vectors', 'schedules', 'runHistory', 'events', 'webhooks'],
  ...['moves', 'quarantine', 'limits', 'items', 'deliveries', 'scheduledSyncs', 'coldCopies', 'reembeds'],
  ...['recognizedPages', 'siteBlocks', 'organizations', 'users', 'hostRateLimits', 'selections', 'ledger'],
];

/**
 * Returns a fake store for tests that need no database: it records each call and resolves with the value that `answers`
 * has for the method's path. Other tests test the real store with MongoDB.
 * @param failing number of the call, from 0, that fails with STORE_DOWN
 */
export function recorder(answers: Answers = {}, failing?: number) {
  const calls: { name: string; args: readonly unknown[] }[] = [];
  const at = (path: string): unknown =>
    new Proxy(() => undefined, {
      get: (_target, key) => (key === 'then' || typeof key === 'symbol' ? undefined : at(`${path}.${key}`)),
      apply: (_target, _self, args: readonly unknown[]) => {
        calls.push({ name: path, args });
        if (calls.length - 1 === failing) return Promise.reject(STORE_DOWN);
        const answer = answers[path];
        return Promise.resolve(
          typeof answer === 'function' ? (answer as (...parameters: unknown[]) => unknown)(...args) : answer,
        );
      },
    });
  const of = (name: string) => calls.filter((call) => call.name === name).map(({ args }) => args);
  const stores = Object.fromEntries(MEMBERS.map((name) => [name, at(name)])) as never;
  return { calls, of, names: () => calls.map(({ name }) => name), stores };
}
