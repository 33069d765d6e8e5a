/** Kills processes before, during and after the pauses of runs that reach their token limit repeatedly. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { clearVectorCache, readStoredState } from '../support/storedState.js';
import { findDifferences } from '../support/differences.js';
import { CONTENT_ROW_BYTES, type KillSite, runKillTrial, startKillSite } from '../support/killTrial.js';
import { type OwnService, startOwnService, KILL_TARGETS } from '../support/ownService.js';
import { seededRandom } from '../support/seed.js';
import { waitFor } from '../support/waitFor.js';

const PAGES = 24;
/** Tokens added by each resume: enough for some pages. */
const TOKENS = 3_000;
/** A resumed run soon ends or pauses again, so the kill follows within this time (ms) after the resume. */
const PAUSE_MS = 1_500;

let site: KillSite;
let service: OwnService;

beforeAll(async () => {
  site = await startKillSite(PAGES);
  service = await startOwnService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', CONTENT_ROW_BYTES });
}, 180_000);
afterAll(async () => {
  await service.close();
  await site.close();
});

const PAUSED = /^Paused at max_tokens: (\d+) of (\d+) tokens.*sync_runs\/(\d+)\/resume/;

test(
  'a run that pauses while processes are killed stores what an uninterrupted run stores, within its token limits',
  async () => {
    const { storedState: uninterrupted } = await runKillTrial({
      service,
      site,
      customerId: 'uninterrupted',
      kills: [],
    });
    for (const target of KILL_TARGETS) {
      const chance = seededRandom(`pauses with kills of ${target}`);
      await clearVectorCache(service.env);
      const user = await service.user(target);
      const { id } = await user.scrape({ url: site.sitemaps[0], chunk_size: 100, max_tokens: TOKENS });
      let pauses = 0;
      let limit = TOKENS;
      const pausedOrReady = () =>
        waitFor(
          () => user.file(id),
          ({ sync_status: status, sync_error_message: message }) =>
            status === 'READY' || Number(PAUSED.exec(message ?? '')?.[2]) === limit,
        );
      for (let file = await pausedOrReady(); file.sync_status !== 'READY'; file = await pausedOrReady()) {
        const [, taken = '', of = '', runId = ''] = PAUSED.exec(file.sync_error_message ?? '') ?? [];
        expect(Number(taken)).toBeLessThanOrEqual(Number(of));
        pauses += 1;
        if (pauses % 2 === 1) await service.kill(target);
        limit = Number(of) + TOKENS;
        // A call whose answer was lost is repeated. The answer is then 409, because the run has already resumed.
        const answer = await user.post<{ max_tokens?: number }>(`/sync_runs/${runId}/resume`, { max_tokens: limit });
        expect([200, 409]).toContain(answer.status);
        if (pauses % 2 === 0) {
          await sleep(chance.below(PAUSE_MS));
          await service.kill(target);
        }
      }
      expect(pauses).toBeGreaterThan(2);
      const storedState = await readStoredState(service.env);
      // Each pause emits FILE_SYNC_LIMIT_REACHED, so a repetition of this event is not an inconsistency.
      expect(
        storedState
          .findInconsistencies(target)
          .filter((what) => !JSON.stringify(what).includes('FILE_SYNC_LIMIT_REACHED')),
      ).toEqual([]);
      expect(storedState.content(target)).toEqual(uninterrupted.content('uninterrupted'));
      expect(await findDifferences(service.env)).toEqual([]);
      process.stdout.write(`${target}: ${pauses} pauses\n`);
    }
  },
  KILL_TARGETS.length * 180_000,
);
