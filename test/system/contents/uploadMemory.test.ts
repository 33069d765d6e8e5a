import { setTimeout as sleep } from 'node:timers/promises';
import { request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/records.js';
import { findPort } from '../../../engines/ports.js';
import { startProcess } from '../../support/processes.js';
import { startService, type TestService } from '../../support/service.js';
import { testUser, type TestUser } from '../../support/client.js';
import { residentBytes } from '../../support/watchResident.js';

const MB = 1_000_000;
const SENT_BYTES = 300 * MB;
/** Much less than what is sent: parts under way, and what the collector has not come to. */
const MORE_BYTES = 100 * MB;

let service: TestService;
let api: Awaited<ReturnType<typeof startProcess>>;
let user: TestUser;
let url: string;

beforeAll(async () => {
  service = await startService();
  const port = await findPort('free');
  // A process of its own, as in production, so that its memory is its own too.
  api = await startProcess('api/server', { ...service.env, PORT: String(port), HOST: '127.0.0.1' });
  url = `http://127.0.0.1:${port}`;
  user = await testUser(url, service.apiKey, 'mem', 20_000);
});
afterAll(async () => {
  await api.stop();
  await service.close();
});

/** Sends a form of so many bytes, made as it goes; answers the record. */
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

test('a large upload goes to file storage without the memory of the API growing with it', async () => {
  await user.settled((await sendZeros(2 * MB)).id);
  const before = residentBytes(api.pid() ?? 0);
  let most = before;
  let sending = true;
  const watching = (async () => {
    while (sending) {
      most = Math.max(most, residentBytes(api.pid() ?? 0));
      await sleep(20);
    }
  })();
  const file = await sendZeros(SENT_BYTES);
  sending = false;
  await watching;
  expect(file.file_statistics).toMatchObject({ file_size: SENT_BYTES, file_format: 'PCM' });
  expect(most - before).toBeLessThan(MORE_BYTES);
  expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY' });
  // Nor does it when it is had back.
  const { body } = await user.get<{ presigned_url: string }>(`/raw_file/${file.id}`);
  const raw = await fetch(body.presigned_url);
  let size = 0;
  for await (const piece of raw.body as unknown as AsyncIterable<Uint8Array>) size += piece.length;
  expect(size).toBe(SENT_BYTES);
  expect(residentBytes(api.pid() ?? 0) - before).toBeLessThan(MORE_BYTES);
});
