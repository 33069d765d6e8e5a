/**
 * Tests with a store in memory: the Idempotency-Key (repeated transactions, conflicts, and the scope of a key), and
 * operations that are performed without an HTTP request of their own.
 */
import { expect, test } from '@jest/globals';

import { HttpError } from '../../api/http/errors.js';
import { answerOnce } from '../../api/http/idempotency.js';
import { createConcurrencyLimiter } from '../../api/http/limits/concurrency.js';
import { createPerform } from '../../api/http/perform.js';
import { ListAnswer, type Operation } from '../../api/http/operation.js';
import type { KeyUse } from '../../store/idempotency.js';

const ADA = { organizationId: 1, userId: 2, customerId: 'ada' };

/** A store of keys. `attempts` is how often MongoDB runs a transaction. */
function service({ attempts = 1, isTaken = false } = {}) {
  const answers = new Map<string, { fingerprint: string; answer: string }>();
  const uses: KeyUse[] = [];
  const claims: string[] = [];
  const started: number[] = [];
  const app = {
    store: {
      transaction: async (work: (session: object) => Promise<unknown>) => {
        let result: unknown;
        for (let attempt = 0; attempt < attempts; attempt += 1) result = await work({});
        return result;
      },
      idempotency: {
        find: (use: KeyUse) => (uses.push(use), Promise.resolve(answers.get(use.key) ?? null)),
        claim: (use: KeyUse, fingerprint: string) => {
          claims.push(use.key);
          answers.set(use.key, { fingerprint, answer: '' });
          return Promise.resolve(!isTaken);
        },
        saveAnswer: ({ key }: KeyUse, answer: string) => {
          answers.set(key, { ...answers.get(key)!, answer });
          return Promise.resolve();
        },
      },
    },
    dispatcher: { start: (id: number) => (started.push(id), Promise.resolve()) },
  };
  return { app: app as never, answers, uses, claims, started };
}
interface Work {
  readonly deps: {
    readonly unit: {
      transaction(work: () => Promise<void>): Promise<void>;
      acceptContainer(container: object): Promise<boolean>;
      start(runId: number): void;
    };
  };
}
const operation = (handle: (call: Work) => unknown): Operation =>
  ({ method: 'post', path: '/work', auth: 'user', handle }) as never;
const callOf = (fields: object = {}) =>
  ({ caller: ADA, body: { a: 1 }, query: {}, params: {}, file: null, deps: {}, ...fields }) as never;

test('each attempt of a transaction claims the key once, and only the run of the last attempt is started', async () => {
  const { app, claims, started } = service({ attempts: 3 });
  let runs = 0;
  const work = operation(async ({ deps: { unit } }) => {
    await unit.transaction(() => Promise.resolve());
    await unit.transaction(() => Promise.resolve());
    unit.start((runs += 1));
    expect(await unit.acceptContainer({})).toBe(false);
    return { runs };
  });
  expect(await answerOnce(work, 'k', callOf(), app)).toEqual({ json: '{"runs":3}', replayed: false });
  expect([started, claims]).toEqual([[3], ['k', 'k', 'k']]);
});

test('an operation that writes nothing stores its answer under the key too', async () => {
  const { app, answers } = service();
  const work = operation(() => ({ dry: true }));
  await answerOnce(work, 'k', callOf(), app);
  expect(answers.get('k')?.answer).toBe('{"dry":true}');
  expect(
    await answerOnce(
      operation(() => Promise.reject(new Error('not called'))),
      'k',
      callOf(),
      app,
    ),
  ).toEqual({
    ...{ json: '{"dry":true}', replayed: true },
  });
});

test('a key belongs to its caller and operation, and to one request, including the parameters and the file', async () => {
  const { app, uses } = service();
  const draft = { size: 3, sha256: 'h' };
  const file = { name: 'a.txt', contentType: 'text/plain', draft };
  const first = { query: { dry: 1 }, params: { id: '7' }, file };
  const work = operation(() => ({}));
  await answerOnce(work, 'k', callOf(first), app);
  expect((await answerOnce(work, 'k', callOf(first), app)).replayed).toBe(true);
  const others = [
    ...[{ body: { a: 2 } }, { query: { dry: 2 } }, { params: { id: '8' } }, { file: null }],
    ...[{ name: 'b.txt' }, { contentType: null }, { draft: { ...draft, size: 4 } }].map((change) => ({
      file: { ...file, ...change },
    })),
    { file: { ...file, draft: { ...draft, sha256: 'i' } } },
  ];
  for (const other of others)
    await expect(answerOnce(work, 'k', callOf({ ...first, ...other }), app)).rejects.toMatchObject({ status: 422 });
  await answerOnce(work, 'of the key', callOf({ caller: { organizationId: 1 } }), app);
  expect([uses[0], uses.at(-1)]).toEqual([
    { organizationId: 1, userId: 2, route: 'post /work', key: 'k' },
    { organizationId: 1, userId: null, route: 'post /work', key: 'of the key' },
  ]);
});

test('a request whose key is taken gets the answer of the earlier request, or 409 until that has ended', async () => {
  const { app, answers, started } = service({ isTaken: true });
  let isDone = true;
  const work = operation(async ({ deps: { unit } }) => {
    unit.start(7);
    await unit
      .transaction(() => Promise.resolve())
      .catch((error: unknown) => {
        if (isDone) answers.set('k', { ...answers.get('k')!, answer: 'first' });
        else answers.clear();
        throw error;
      });
  });
  expect(await answerOnce(work, 'k', callOf(), app)).toEqual({ json: 'first', replayed: true });
  answers.clear();
  isDone = false;
  const refused = { status: 409, retryAfterSeconds: 1 };
  await expect(answerOnce(work, 'k', callOf(), app)).rejects.toMatchObject(refused);
  expect(started).toEqual([]);
  // An error other than an HttpError is thrown, even if the key has a stored answer.
  const broken = service();
  const fails = operation(() => {
    broken.answers.set('k', { fingerprint: 'other', answer: 'x' });
    throw new Error('the store failed');
  });
  await expect(answerOnce(fails, 'k', callOf(), broken.app)).rejects.toThrow('the store failed');
});

test('createPerform: a failed search frees its slot and discards received contents; a list is returned whole', async () => {
  const discarded: unknown[] = [];
  const originals = {
    receive: () => Promise.resolve({ id: 5 }),
    discard: ({ id }: { id: number }) => Promise.resolve(void discarded.push(id)),
  };
  const store = { originals, schema: { newer: null } };
  const app = { store, addresses: { mayCall: () => true }, settings: { redirectUriSchemes: [] } } as never;
  const context = { caller: ADA, requestId: 'r', signal: new AbortController().signal, peer: '::1' } as never;
  const perform = createPerform(app, createConcurrencyLimiter(1, 'searches'), context);
  const search = (handle: (call: { receive(content: Uint8Array): Promise<unknown> }) => unknown): Operation =>
    ({ method: 'post', auth: 'reader', path: '/s', searches: true, handle }) as never;
  const failing = search(async (call) => {
    await call.receive(Buffer.from('x'));
    throw new HttpError(409, 'busy');
  });
  for (let nth = 0; nth < 2; nth += 1) await expect(perform(failing, {})).rejects.toThrow('busy');
  expect(discarded).toEqual([5, 5]);
  async function* parts() {
    yield* await Promise.resolve([[1, 2], [], [3]]);
  }
  const list = search(() => new ListAnswer(Promise.resolve(9), parts() as never));
  expect(await perform(list, {})).toEqual({ results: [1, 2, 3], count: 9 });
  // While one search runs, another one of the user is refused.
  const nested = search(() => perform(list, {}));
  await expect(perform(nested, {})).rejects.toMatchObject({ status: 429 });
  expect(await perform(list, {})).toMatchObject({ count: 9 });
});
