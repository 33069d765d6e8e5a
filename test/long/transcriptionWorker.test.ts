import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../contract/files/records.js';
import { type AssemblyAi, startAssemblyAi } from '../emulators/assemblyai.js';
import { type Deepgram, startDeepgram } from '../emulators/deepgram.js';
import { recordingOf } from '../emulators/speech.js';
import { readStoredState } from '../support/storedState.js';
import type { TestUser } from '../support/client.js';
import { startProcess } from '../support/processes.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';
import { residentBytes, watchResident } from '../support/watchResident.js';

const MB = 1_000_000;
const SENT_BYTES = 300 * MB;
/** Far less than is sent, but enough for parts in transit and uncollected garbage. */
const MAX_GROWTH_BYTES = 120 * MB;
const OPTIONS = 'skip_embedding_generation=true&transcription_service=';
const TIME_LIMIT_MS = 120_000;

let deepgram: Deepgram;
let assemblyai: AssemblyAi;
let service: TestService;
let worker: Awaited<ReturnType<typeof startProcess>>;
let user: TestUser;

beforeAll(async () => {
  [deepgram, assemblyai] = await Promise.all([startDeepgram('key'), startAssemblyAi('key')]);
  service = await startService(
    {
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      DEEPGRAM_API_KEY: 'key',
      DEEPGRAM_BASE_URL: deepgram.url,
      ASSEMBLYAI_API_KEY: 'key',
      ASSEMBLYAI_BASE_URL: assemblyai.url,
      ASSEMBLYAI_POLL_S: '0.1',
    },
    { worker: false },
  );
  // A separate process, as in production: it has its own memory, and can be killed.
  worker = await startProcess('worker/main', service.env, true);
  user = await service.user('wanda');
}, 120_000);
afterAll(async () => {
  await worker.stop();
  await service.close();
  await Promise.all([deepgram.close(), assemblyai.close()]);
});

/** Uploads a recording of this many bytes, generated while it is sent. Returns its record and its hash. */
async function sendRecording(
  scenario: string,
  bytes: number,
  by: string,
): Promise<{ file: FileRecord; sha256: string }> {
  const call = httpRequest(`${service.url}/uploadfile?${OPTIONS}${by}`, {
    method: 'POST',
    headers: { authorization: `Token ${user.token}`, 'content-type': 'multipart/form-data; boundary=b' },
  });
  const answered = once(call, 'response');
  const hash = createHash('sha256');
  call.write('--b\r\nContent-Disposition: form-data; name="file"; filename="long.mp3"\r\n\r\n');
  const head = recordingOf(scenario, MB);
  const part = Buffer.alloc(MB);
  for (let sent = 0; sent < bytes; sent += MB) {
    const chunk = sent === 0 ? head : part;
    hash.update(chunk);
    if (!call.write(chunk)) await once(call, 'drain');
  }
  call.end('\r\n--b--\r\n');
  const [response] = await answered;
  let text = '';
  for await (const piece of response) text += String(piece);
  expect({ status: response.statusCode, text }).toMatchObject({ status: 200 });
  return { file: JSON.parse(text) as FileRecord, sha256: hash.digest('hex') };
}

test.each(['deepgram', 'assemblyai'])(
  "streams a long recording to %s without growth of the worker's memory",
  async (by) => {
    const small = await sendRecording(`small-${by}`, MB, by);
    expect(await user.settled(small.file.id, TIME_LIMIT_MS)).toMatchObject({ sync_status: 'READY' });
    const pid = worker.pid() ?? 0;
    const before = residentBytes(pid);
    const scenario = `big-${by}`;
    const [{ file, sha256 }, most] = await watchResident({ api: process.pid, worker: pid }, async () => {
      const sent = await sendRecording(scenario, SENT_BYTES, by);
      expect(await user.settled(sent.file.id, TIME_LIMIT_MS)).toMatchObject({ sync_status: 'READY' });
      return sent;
    });
    expect([...deepgram.calls, ...assemblyai.uploads].filter((call) => call.scenario === scenario)).toMatchObject([
      { size: SENT_BYTES, sha256 },
    ]);
    expect(most.worker - before).toBeLessThan(MAX_GROWTH_BYTES);
    expect((await user.file(file.id)).file_statistics).toMatchObject({ file_size: SENT_BYTES, file_format: 'MP3' });
  },
  300_000,
);

test('a restarted worker waits for the transcription job of the killed one, and creates no second job', async () => {
  assemblyai.scenarios.set('killed', { polls: Infinity });
  const { file } = await sendRecording('killed', MB, 'assemblyai');
  const job = () => assemblyai.jobs.find(({ scenario }) => scenario === 'killed');
  await waitFor(
    () => job()?.polls ?? 0,
    (polls) => polls > 1,
    TIME_LIMIT_MS,
  );
  const pid = worker.pid() ?? 0;
  process.kill(pid, 'SIGKILL');
  await waitFor(
    () => worker.pid() ?? pid,
    (now) => now !== pid,
    TIME_LIMIT_MS,
  );
  const { polls } = job()!;
  await waitFor(
    () => job()!.polls,
    (now) => now > polls + 1,
    TIME_LIMIT_MS,
  );
  assemblyai.scenarios.set('killed', { polls: 0 });
  expect(await user.settled(file.id, TIME_LIMIT_MS)).toMatchObject({ sync_status: 'READY', sync_error_message: null });
  expect(assemblyai.jobs.filter(({ scenario }) => scenario === 'killed')).toHaveLength(1);
  expect(assemblyai.uploads.filter(({ scenario }) => scenario === 'killed')).toHaveLength(1);
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
}, 300_000);
