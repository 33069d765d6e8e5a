/** The results of store methods by path, such as `files.byIds`: a value, or a function of the call's arguments. */
export type Answers = Readonly<Record<string, unknown>>;

const MEMBERS = [
  ...['runs', 'files', 'dataSources', 'attempts', 'frontier', 'pauses', 'heldRuns', 'uploadStreams', 'stalls'],
  ...['workers', 'originals', 'contents', 'chunks', 'vectors', 'schedules', 'runHistory', 'events', 'webhooks'],
  ...['moves', 'quarantine', 'limits', 'items', 'deliveries', 'scheduledSyncs', 'coldCopies', 'reembeds'],
  ...['recognizedPages', 'siteBlocks'],
];

/**
 * Returns a fake store for tests that need no database: it records each call and resolves with the value that `answers`
 * has for the method's path. Other tests test the real store with MongoDB.
 */
export function recorder(answers: Answers = {}) {
  const calls: { name: string; args: readonly unknown[] }[] = [];
  const at = (path: string): unknown =>
    new Proxy(() => undefined, {
      get: (_target, key) => (key === 'then' || typeof key === 'symbol' ? undefined : at(`${path}.${key}`)),
      apply: (_target, _self, args: readonly unknown[]) => {
        calls.push({ name: path, args });
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
