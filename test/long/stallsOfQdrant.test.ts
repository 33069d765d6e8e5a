/**
 * Stops or kills the Qdrant process of a service: the fault is reported with its remedy, and runs continue after
 * recovery.
 */
import { rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { type ApiClient, apiClient, type TestUser } from '../support/client.js';
import { type OnCall, onCall } from '../support/onCall.js';
import { opsPicture } from '../support/opsPicture.js';
import { type OwnService, startOwnService } from '../support/ownService.js';
import { waitFor } from '../support/waitFor.js';

/** Maximum time (ms) until a fault is reported, with the default STALL_AFTER_S. */
const REPORTED_WITHIN_MS = 90_000;
/** /ops reads the state of the engines every 10 s, and a check may take 5 s. */
const PAGE_DELAY_MS = 30_000;

let service: OwnService;
let user: TestUser;
let key: ApiClient;
let signals: OnCall;
const logLines: string[] = [];

beforeAll(async () => {
  service = await startOwnService({}, (line) => logLines.push(line));
  user = await service.user('nora');
  key = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  signals = onCall(service);
  const { id } = await user.send({ name: 'avocet.txt', content: 'The avocet sweeps the mud.' });
  await user.settled(id);
});
afterAll(() => service.close());

/**
 * Uploads a file, waits until its run is stalled, and expects the fault in `/ready`, `doctor`, `/ops` and `/sync_runs`,
 * and its remedy in the first three. Returns the file's id.
 */
async function expectReported(name: string, problem: string, remedy: string): Promise<number> {
  const begun = Date.now();
  const { id } = await user.send({ name: `${name}.txt`, content: `The ${name} probes the mud.` });
  const reportedAfterMs: Record<string, number> = {};
  const waitForWords = async (place: string, ask: () => Promise<string>, words: string): Promise<string> => {
    const answer = await waitFor(ask, (text) => text.includes(words));
    reportedAfterMs[place] = Date.now() - begun;
    return answer;
  };
  expect(await waitForWords('/ready', signals.reasons, problem)).toMatch(/^degraded: /);
  const early = await waitForWords('doctor', signals.failedChecks, problem);
  expect(early).toContain(remedy);
  const run = async () => JSON.stringify((await key.get('/sync_runs?statuses=stalled')).body);
  const [stalled, page] = await Promise.all([
    waitForWords('/sync_runs', run, 'qdrant_down'),
    waitForWords('/ops', signals.opsPage, '1 run is stalled'),
  ]);
  expect(stalled).toContain(problem);
  const doctor = await signals.failedChecks();
  expect(doctor).toContain('1 (run');
  process.stderr.write(`Qdrant, ${name}: ${JSON.stringify(reportedAfterMs)}\n${doctor}\n`);
  expect(Math.max(...Object.values(reportedAfterMs))).toBeLessThan(REPORTED_WITHIN_MS);
  for (const text of [page, doctor, await signals.reasons()]) {
    expect(text).toContain(problem);
    expect(text).toContain(remedy);
  }
  return id;
}

test('reports that Qdrant was stopped by a signal, with its process id; runs continue when it resumes', async () => {
  const { qdrant } = service.engines;
  process.kill(qdrant.pid, 'SIGSTOP');
  const problem = `The embedded Qdrant (process ${qdrant.pid}) was stopped by a signal`;
  const id = await expectReported('dunlin', problem, `kill -CONT ${qdrant.pid}`);
  await opsPicture(service, 'qdrant-stopped');
  process.kill(qdrant.pid, 'SIGCONT');
  expect((await user.settled(id, 300_000)).sync_status).toBe('READY');
  await waitFor(signals.reasons, (reasons) => !reasons.includes('Qdrant'));
  await waitFor(signals.opsPage, (page) => !page.includes(problem), PAGE_DELAY_MS);
});

test('reports since when and why a killed Qdrant cannot start; runs continue when it starts', async () => {
  const folder = path.join(service.env['DATA_DIR'] ?? '', 'qdrant');
  await rename(folder, `${folder}-away`);
  await writeFile(folder, 'A file where the engine expects its folder.');
  process.kill(service.engines.qdrant.pid, 'SIGKILL');
  await waitFor(
    () => logLines.join('\n'),
    (lines) => lines.includes('qdrant did not start'),
  );
  const id = await expectReported('knot', 'it ended by SIGKILL', 'npm start tries again after at most 30 s');
  // The page must show the present fault, not that of the previous test, whose remedy would be wrong.
  const down = 'The embedded Qdrant has been down since [-0-9]+ [:0-9]+ UTC: it ended by SIGKILL, [0-9]+ failed';
  const alert = new RegExp(`<p class="alert bad" role="status">\\s*1 run is stalled since .+?</time>. ${down}`);
  await waitFor(signals.opsPage, (page) => alert.test(page), PAGE_DELAY_MS);
  await opsPicture(service, 'qdrant-killed');
  await rm(folder);
  await rename(`${folder}-away`, folder);
  expect((await user.settled(id, 300_000)).sync_status).toBe('READY');
  expect(logLines.at(-1)).toBe('qdrant runs again');
  await waitFor(signals.reasons, (reasons) => !reasons.includes('Qdrant'));
});
