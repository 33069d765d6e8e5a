/**
 * Tests of the command `reconcile`, with a simulated store: the options and functions that it passes to
 * store/reconcile/, which compares the records in MongoDB with chunks, points and stored contents.
 */
import { expect, test } from '@jest/globals';

import { createEmbedder } from '../../cli/embedder.js';
import { reconcile } from '../../cli/reconcile.js';
import { requireOrganization } from '../../cli/store.js';
import { loadConfig } from '../../config/config.js';

const OWNER = { organizationId: 3, userId: 4 };
type Resync = (owner: typeof OWNER, fileId: number) => Promise<string | null>;

/** Runs a comparison of a simulated store, and returns the options that it received. */
async function optionsOf(store: object, options: object): Promise<Record<string, unknown> & { resync: Resync }> {
  let received: unknown;
  const reconciliation = { run: (given: unknown) => Promise.resolve((received = given)) };
  await reconcile({ ...store, reconciliation } as never, options);
  return received as Record<string, unknown> & { resync: Resync };
}

test('repairs, reads all vectors and embeds texts only if requested', async () => {
  const embed = () => Promise.resolve(null);
  const defaults = await optionsOf({}, { embed: null });
  expect(defaults).toMatchObject({ organizationId: null, repairs: false, readsAllVectors: false });
  expect(Object.hasOwn(defaults, 'embed')).toBe(false);
  const wanted = { organizationId: 7, repairs: true, readsAllVectors: true, embed };
  expect(await optionsOf({}, wanted)).toMatchObject(wanted);
});

const FILE = { _id: 9, dataSourceId: 5, customerId: 'c', options: {}, syncStatus: 'SYNCING', isContainer: false };

/** Resyncs a file of a simulated store. @returns the result, and the ids with which the store was called */
async function resync(files: readonly object[], source: object | null) {
  const asked: unknown[] = [];
  const { resync: run } = await optionsOf(
    {
      files: { byIds: (...args: unknown[]) => (asked.push(args), Promise.resolve(files)) },
      dataSources: { find: (...args: unknown[]) => (asked.push(args), Promise.resolve(source)) },
      runs: { nextId: () => Promise.resolve(1) },
      transaction: (work: (session: null) => unknown) => work(null),
    },
    {},
  );
  return { result: await run(OWNER, 9), asked };
}

test('states why a file is not synced again: deleted, revoked access, or a run in progress', async () => {
  expect((await resync([], null)).result).toBe('the file was deleted in the meantime');
  for (const source of [null, { revokedAccess: true }]) {
    const { result, asked } = await resync([FILE], source);
    expect(result).toMatch(/^access to data source 5 is revoked/);
    expect(asked).toEqual([
      [OWNER, [9]],
      [OWNER, 5],
    ]);
  }
  expect((await resync([FILE], { revokedAccess: false })).result).toMatch(/in progress|being|sync/i);
  const upload = await resync([{ ...FILE, dataSourceId: null }], null);
  expect(upload.result).not.toContain('revoked');
  expect(upload.asked.length).toBeGreaterThan(1);
});

test('creates no embedder without a model, and calls the provider of a remote space only with --remote and a key', async () => {
  const env = { SECRET_KEY: `k:${Buffer.alloc(32).toString('base64')}`, DATA_DIR: '/does/not/exist' };
  const paths = { EMBEDDING_MODEL_PATH: '/no/model', EMBEDDING_TOKENIZER_PATH: '/no/tokenizer' };
  const { EMBEDDING_MODEL_PATH: _path, ...tokenizerOnly } = paths;
  expect(createEmbedder(loadConfig(env), true)).toBeNull();
  expect(createEmbedder(loadConfig({ ...env, ...tokenizerOnly }), false)).toBeNull();
  const config = loadConfig({ ...env, ...paths, OPENAI_API_KEY: 'sk', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' });
  const [local, remote] = [createEmbedder(config, false), createEmbedder(config, true)];
  try {
    expect(await local?.embed(OWNER, 'openai-3-small-1536', ['text'])).toBeNull();
    expect(await remote?.embed(OWNER, 'cohere-multilingual-v3-1024', ['text'])).toBeNull();
    await expect(remote?.embed(OWNER, 'openai-3-small-1536', ['text'])).rejects.toThrow();
  } finally {
    await Promise.all([local?.close(), remote?.close()]);
  }
});

test('accepts only an organization that exists', async () => {
  const store = { organizations: { overview: () => Promise.resolve([{ id: 1 }, { id: 12 }]) } } as never;
  await requireOrganization(store, null);
  await requireOrganization(store, 12);
  await expect(requireOrganization(store, 2)).rejects.toThrow('There is no organization 2');
});
