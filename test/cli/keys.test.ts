/** Tests of the commands for API keys and organizations, with a service without a worker. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { cli } from '../support/cli.js';
import { startService, type TestService } from '../support/service.js';

interface Key {
  readonly id: number;
  readonly organization_id: number;
  readonly api_key: string;
}
let service: TestService;
let dataDir: string;
beforeAll(async () => {
  service = await startService({}, { worker: false });
  dataDir = await mkdtemp(path.join(tmpdir(), 'allotrope-cli-keys-'));
});
afterAll(async () => {
  await service.close();
  await rm(dataDir, { recursive: true });
});

const call = (...args: string[]) => cli(service.env, ...args);
const keyBy = async (...args: string[]): Promise<Key> => (await call(...args, '--json')).json<Key>();
const statusOf = async (key: string): Promise<number> =>
  (await fetch(`${service.url}/organization`, { headers: { authorization: `Bearer ${key}` } })).status;

test('a key belongs to its organization, and is valid until it is rotated or revoked', async () => {
  const { id } = (await call('org', 'create', 'quay', '--json')).json<{ id: number }>();
  const key = await keyBy('key', 'create', '--org', String(id));
  expect([key.organization_id, await statusOf(key.api_key)]).toEqual([id, 200]);
  const rotated = await keyBy('key', 'rotate', String(key.id));
  expect([rotated.organization_id, await statusOf(key.api_key), await statusOf(rotated.api_key)]).toEqual([
    id,
    401,
    200,
  ]);
  const listed = (await call('key', 'list', '--org', String(id), '--json')).json<{ organizationId: number }[]>();
  expect(listed.map(({ organizationId }) => organizationId)).toEqual([id, id, id]);
  expect((await call('key', 'list', '--json')).json<unknown[]>().length).toBeGreaterThan(3);
  expect((await call('key', 'revoke', String(rotated.id))).code).toBe(0);
  expect(await statusOf(rotated.api_key)).toBe(401);
});

test('revokes no last key without --last and no revoked key; rejects unknown organizations and sources', async () => {
  const { id } = (await call('org', 'create', 'dock', '--json')).json<{ id: number }>();
  const [first] = (await call('key', 'list', '--org', String(id), '--json')).json<{ id: number }[]>();
  const revoke = async (...args: string[]) => {
    const { code, stderr } = await call('key', 'revoke', String(first!.id), ...args);
    return [code, /--last|already revoked/.exec(stderr)?.[0]];
  };
  expect(await revoke()).toEqual([1, '--last']);
  expect(await revoke('--last')).toEqual([0, undefined]);
  expect(await revoke('--last')).toEqual([1, 'already revoked']);
  expect((await call('key', 'create', '--org', '999999')).stderr).toContain('There is no organization 999999');
  expect((await call('source', 'approve-deletions', '999999')).code).toBe(1);
});

test('a rotation replaces the key in DATA_DIR only if that is the rotated one', async () => {
  const [own, other] = [await keyBy('key', 'create'), await keyBy('key', 'create')];
  const file = path.join(dataDir, 'api-key');
  await writeFile(file, `${own.api_key}\n`);
  const { API_KEY: _key, ...others } = service.env;
  const rotate = async (id: number) => {
    const run = await cli({ ...others, DATA_DIR: dataDir }, 'key', 'rotate', String(id), '--json');
    return [run.json<Key>().api_key, run.stderr, (await readFile(file, 'utf8')).trim()];
  };
  expect((await rotate(other.id)).slice(1)).toEqual(['', own.api_key]);
  const [newKey, message, stored] = await rotate(own.id);
  expect([message, stored]).toEqual(['DATA_DIR/api-key contains the new key.\n', newKey]);
});
