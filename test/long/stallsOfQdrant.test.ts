/** The Qdrant process of a service is stopped or killed: it is named with what to do, and runs continue when it is back. */
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { type ApiClient, apiClient, type TestUser } from '../support/client.js';
import { type OnCall, onCall } from '../support/onCall.js';
import { opsPicture } from '../support/opsPicture.js';
import { type OwnService, startOwnService } from '../support/ownService.js';
import { waitFor } from '../support/waitFor.js';

/** How soon each trouble must be named, with the default STALL_AFTER_S. */
const NAMED_WITHIN_MS = 90_000;
/** /ops reads the state of the engines every 10 s, and a check may take 5 s. */
const PAGE_KEEPS_UP_MS = 30_000;

let service: OwnService;
let user: TestUser;
let key: ApiClient;
let told: OnCall;
const said: string[] = [];

beforeAll(async () => {
  service = await startOwnService({}, (line) => said.push(line));
  user = await service.user('nora');
  key = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  told = onCall(service);
  const { id } = await user.send({ name: 'avocet.txt', content: 'The avocet sweeps the mud.' });
  await user.settled(id);
});
afterAll(() => service.close());

/** Uploads a file, waits until its run is stalled, and expects the trouble and its remedy in all places. */
async function expectNamed(name: string, trouble: string, remedy: string): Promise<number> {
  const begun = Date.now();
  const { id } = await user.send({ name: `${name}.txt`, content: `The ${name} probes the mud.` });
  const namedAfterMs: Record<string, number> = {};
  const first = async (place: string, ask: () => Promise<string>, words: string): Promise<string> => {
    const answer = await waitFor(ask, (text) => text.includes(words));
    namedAfterMs[place] = Date.now() - begun;
    return answer;
  };
  expect(await first('/ready', told.reasons, trouble)).toMatch(/^degraded: /);
  const early = await first('doctor', told.doctorSays, trouble);
  expect(early).toContain(remedy);
  const run = async () => JSON.stringify((await key.get('/sync_runs?statuses=stalled')).body);
  const [stalled, page] = await Promise.all([
    first('/sync_runs', run, 'qdrant_down'),
    first('/ops', told.opsPage, '1 run is stalled'),
  ]);
  expect(stalled).toContain(trouble);
  const doctor = await told.doctorSays();
  expect(doctor).toContain('1 (run');
  process.stderr.write(`Qdrant, ${name}: ${JSON.stringify(namedAfterMs)}\n${doctor}\n`);
  expect(Math.max(...Object.values(namedAfterMs))).toBeLessThan(NAMED_WITHIN_MS);
  for (const text of [page, doctor, await told.reasons()]) {
    expect(text).toContain(trouble);
    expect(text).toContain(remedy);
  }
  return id;
}

test('a Qdrant that is stopped by a signal is named with its process, and work goes on when it continues', async () => {
  const { qdrant } = service.engines;
  process.kill(qdrant.pid, 'SIGSTOP');
  const trouble = `The embedded Qdrant (process ${qdrant.pid}) was stopped by a signal`;
  const id = await expectNamed('dunlin', trouble, `kill -CONT ${qdrant.pid}`);
  await opsPicture(service, 'qdrant-stopped');
  process.kill(qdrant.pid, 'SIGCONT');
  expect((await user.settled(id, 300_000)).sync_status).toBe('READY');
  await waitFor(told.reasons, (reasons) => !reasons.includes('Qdrant'));
  await waitFor(told.opsPage, (page) => !page.includes(trouble), PAGE_KEEPS_UP_MS);
});

test('a Qdrant that is killed and cannot start is named since when and why, and work goes on when it starts', async () => {
  const folder = path.join(service.env['DATA_DIR'] ?? '', 'qdrant');
  await rename(folder, `${folder}-away`);
  await writeFile(folder, 'A file where the engine expects its folder.');
  process.kill(service.engines.qdrant.pid, 'SIGKILL');
  await waitFor(
    () => said.join('\n'),
    (lines) => lines.includes('qdrant did not start'),
  );
  const id = await expectNamed('knot', 'it ended by SIGKILL', 'npm start tries again every 30 s at most');
  // What the page said of the earlier trouble would be wrong advice.
  const down = 'The embedded Qdrant is down since [-0-9]+ [:0-9]+ UTC: it ended by SIGKILL, [0-9]+ failed';
  const alert = new RegExp(`<p class="alert bad" role="status">\\s*1 run is stalled since .+?</time>. ${down}`);
  await waitFor(told.opsPage, (page) => alert.test(page), PAGE_KEEPS_UP_MS);
  await opsPicture(service, 'qdrant-killed');
  await rm(folder);
  await rename(`${folder}-away`, folder);
  expect((await user.settled(id, 300_000)).sync_status).toBe('READY');
  expect(said.at(-1)).toBe('qdrant runs again');
  await waitFor(told.reasons, (reasons) => !reasons.includes('Qdrant'));
});
