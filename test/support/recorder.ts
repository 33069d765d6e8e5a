/** What each method answers, by its path: a value, or what a function of its arguments gives. */
export type Answers = Readonly<Record<string, unknown>>;

const MEMBERS = [
  ...['runs', 'files', 'dataSources', 'attempts', 'frontier', 'pauses', 'heldRuns', 'uploadStreams', 'stalls'],
  ...['workers', 'originals', 'contents', 'chunks', 'vectors', 'schedules', 'runHistory', 'events', 'webhooks'],
  ...['moves', 'quarantine'],
];

/**
 * The store's records as parameters of decisions that need no database: each call is recorded and answers what the table
 * says. What the store itself does is tested with MongoDB.
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
          typeof answer === 'function' ? (answer as (...all: unknown[]) => unknown)(...args) : answer,
        );
      },
    });
  const of = (name: string) => calls.filter((call) => call.name === name).map(({ args }) => args);
  const stores = Object.fromEntries(MEMBERS.map((name) => [name, at(name)])) as never;
  return { calls, of, names: () => calls.map(({ name }) => name), stores };
}
