import { setTimeout as sleep } from 'node:timers/promises';
import { request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { findPort } from '../../../engines/ports.js';
import { startProcess } from '../../support/processes.js';
import { startService, type TestService } from '../../support/service.js';
import { testUser, type TestUser } from '../../support/client.js';
import { residentBytes } from '../../support/watchResident.js';

const MB = 1_000_000;
const SENT_BYTES = 220 * MB;
/** Well below SENT_BYTES: allows for parts in transit and uncollected garbage. */
const MAX_GROWTH_BYTES = 100 * MB;

let service: TestService;
let api: Awaited<ReturnType<typeof startProcess>>;
let user: TestUser;
let url: string;

beforeAll(async () => {
  service = await startService();
  const port = await findPort('free');
  // A separate process, as in production, whose memory can be measured.
  api = await startProcess('api/server', { ...service.env, PORT: String(port), HOST: '127.0.0.1' });
  url = `http://127.0.0.1:${port}`;
  user = await testUser(url, service.apiKey, 'mem', 20_000);
});
afterAll(async () => {
  await api.stop();
  await service.close();
});

/** Uploads a form of this many bytes, generated while it is sent. Returns the record. */
async function sendZeros(bytes: number): Promise<FileRecord> {
  const call = httpRequest(`${url}/uploadfile?store_file_only=true`, {
    method: 'POST',
    headers: { authorization: `Token ${user.token}`, 'content-type': 'multipart/form-data; boundary=b' },
  });
  const answered = once(call, 'response');
  call.write('--b\r\nContent-Disposition: form-data; name="file"; filename="zeros.pcm"\r\n\r\n');
  const part = Buffer.alloc(MB);
  for (let sent = 0; sent < bytes; sent += part.length) if (!call.write(part)) await once(call, 'drain');
  call.end('\r\n--b--\r\n');
  const [response] = await answered;
  let text = '';
  for await (const piece of response) text += String(piece);
  expect({ status: response.statusCode, text }).toMatchObject({ status: 200 });
  return JSON.parse(text) as FileRecord;
}

test('stores a large upload without increasing the memory of the API', async () => {
  await user.settled((await sendZeros(2 * MB)).id);
  const before = residentBytes(api.pid() ?? 0);
  let maxBytes = before;
  let sending = true;
  const watching = (async () => {
    while (sending) {
      maxBytes = Math.max(maxBytes, residentBytes(api.pid() ?? 0));
      await sleep(20);
    }
  })();
  const file = await sendZeros(SENT_BYTES);
  sending = false;
  await watching;
  expect(file.file_statistics).toMatchObject({ file_size: SENT_BYTES, file_format: 'PCM' });
  expect(maxBytes - before).toBeLessThan(MAX_GROWTH_BYTES);
  expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY' });
  // A download must not increase the memory of the API either.
  const { body } = await user.get<{ presigned_url: string }>(`/raw_file/${file.id}`);
  const raw = await fetch(body.presigned_url);
  let size = 0;
  for await (const piece of raw.body as unknown as AsyncIterable<Uint8Array>) size += piece.length;
  expect(size).toBe(SENT_BYTES);
  expect(residentBytes(api.pid() ?? 0) - before).toBeLessThan(MAX_GROWTH_BYTES);
});
