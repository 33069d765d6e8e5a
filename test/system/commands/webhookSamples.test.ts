import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { signDelivery } from '../../../activities/webhooks/signDelivery.js';
import { eventBody } from '../../../contract/events.js';
import { waitFor } from '../../support/waitFor.js';

const run = promisify(execFile);
const SIGNING_KEY = 'aa76aee859f223451fd9bfb37ce893a0';
const SECONDS = 1_721_392_406;

const body = eventBody(
  {
    kind: 'FILE_READY',
    customerId: 'ålice',
    objectId: '17',
    info: { is_resync: 'False', request_id: 'first' },
    at: new Date(SECONDS * 1000),
  },
  () => ({ workflow_id: null, workflow_url: null }),
);
const headers = signDelivery({ signingKey: SIGNING_KEY, body, eventId: 'evt_1_5', seconds: SECONDS });

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-samples-'));
  const page = await readFile(new URL('../../../docs/guide/events/webhooks.md', import.meta.url), 'utf8');
  for (const [, , name = '', code = ''] of page.matchAll(/```(ts|python) \[[^\]]+\]\n(?:\/\/|#) (\S+)\n([\s\S]*?)```/g))
    await writeFile(path.join(folder, name), code);
  await writeFile(
    path.join(folder, 'call.mjs'),
    `import { verify } from './verify.mjs';
     const { body, headers, key, now } = JSON.parse(process.argv[2]);
     try { console.log(JSON.stringify(verify(body, headers, key, now))); } catch (error) { console.log(error.message); }`,
  );
  await writeFile(
    path.join(folder, 'call.py'),
    `import json, sys
from verify import verify
given = json.loads(sys.argv[1])
try:
    print(json.dumps(verify(given["body"].encode(), given["headers"], given["key"], given["now"])))
except ValueError as error:
    print(error)
`,
  );
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

/** Runs the code of the guide with a delivery. Returns its output: the event, or the reason for a rejection. */
async function verified(program: 'node' | 'python3', delivery: { body?: string; key?: string; now?: number }) {
  const file = path.join(folder, program === 'node' ? 'call.mjs' : 'call.py');
  const input = { body, headers, key: SIGNING_KEY, now: SECONDS + 10, ...delivery };
  const { stdout } = await run(program, [file, JSON.stringify(input)]);
  return stdout.trim();
}

test.each(['node', 'python3'] as const)('the code of the guide for %s accepts a signed delivery', async (program) => {
  expect(JSON.parse(await verified(program, {}))).toMatchObject({
    webhook_type: 'FILE_READY',
    obj: { object_type: 'FILE', object_id: '17' },
    customer_id: 'ålice',
  });
});

test.each(['node', 'python3'] as const)(
  'the code of the guide for %s rejects forged and old deliveries',
  async (program) => {
    expect(await verified(program, { body: body.replace('17', '18') })).toBe('wrong signature');
    expect(await verified(program, { key: SIGNING_KEY.replace('aa', 'ab') })).toBe('wrong signature');
    expect(await verified(program, { now: SECONDS + 301 })).toBe('too old');
  },
);

/** Returns a port of loopback that is free now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('the receiver of the guide prints a signed delivery, and rejects one without a signature', async () => {
  const port = await freePort();
  const code = await readFile(path.join(folder, 'receiver.mjs'), 'utf8');
  const file = path.join(folder, 'receiverHere.mjs');
  await writeFile(file, code.replace('listen(9000', `listen(${port}`));
  const receiver = spawn('node', [file, SIGNING_KEY], { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  receiver.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  const send = (signed: Record<string, string>) =>
    waitFor(
      () => fetch(`http://127.0.0.1:${port}`, { method: 'POST', body, headers: signed }).catch(() => null),
      (answer) => answer !== null,
    );
  try {
    const now = Math.floor(Date.now() / 1000);
    const signed = signDelivery({ signingKey: SIGNING_KEY, body, eventId: 'evt_1_5', seconds: now });
    expect((await send({ ...signed }))?.status).toBe(204);
    expect((await send({}))?.status).toBe(400);
  } finally {
    receiver.kill();
    // Wait until the output of the receiver has ended as well.
    await once(receiver, 'close');
  }
  expect(printed).toMatch(/^accepted: .*FILE_READY.*\nrejected: wrong signature\n$/);
});
