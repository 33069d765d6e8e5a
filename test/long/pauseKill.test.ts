/** Runs that come to their bound of tokens again and again, with kills before, amid and after their pauses. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { forgetVectors, readAtRest } from '../support/atRest.js';
import { findDifferences } from '../support/differences.js';
import { CONTENT_ROW_BYTES, type KillSite, playRound, startKillSite } from '../support/killRound.js';
import { type OwnService, startOwnService, VICTIMS } from '../support/ownService.js';
import { seededChance } from '../support/seed.js';
import { waitFor } from '../support/waitFor.js';

const PAGES = 24;
/** Tokens that are given each time: some pages' worth. */
const TOKENS = 3_000;
/** After a run was told to go on, its next end or pause is a moment away: a kill comes within. */
const MOMENT_MS = 1_500;

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

const STANDING = /^Paused at max_tokens: (\d+) of (\d+) tokens.*sync_runs\/(\d+)\/resume/;

test(
  'the same chunks and points as undisturbed, and no bound is passed',
  async () => {
    const { rest: calm } = await playRound({ service, site, customerId: 'calm', kills: [] });
    for (const victim of VICTIMS) {
      const chance = seededChance(`pauses with kills of ${victim}`);
      await forgetVectors(service.env);
      const user = await service.user(victim);
      const { id } = await user.scrape({ url: site.sitemaps[0], chunk_size: 100, max_tokens: TOKENS });
      let pauses = 0;
      let bound = TOKENS;
      const standsOrEnded = () =>
        waitFor(
          () => user.file(id),
          ({ sync_status: status, sync_error_message: message }) =>
            status === 'READY' || Number(STANDING.exec(message ?? '')?.[2]) === bound,
        );
      for (let file = await standsOrEnded(); file.sync_status !== 'READY'; file = await standsOrEnded()) {
        const [, taken = '', of = '', runId = ''] = STANDING.exec(file.sync_error_message ?? '') ?? [];
        expect(Number(taken)).toBeLessThanOrEqual(Number(of));
        pauses += 1;
        if (pauses % 2 === 1) await service.kill(victim);
        bound = Number(of) + TOKENS;
        // A call whose answer was lost is made again: then the run goes on already.
        const told = await user.post<{ max_tokens?: number }>(`/sync_runs/${runId}/resume`, { max_tokens: bound });
        expect([200, 409]).toContain(told.status);
        if (pauses % 2 === 0) {
          await sleep(chance.below(MOMENT_MS));
          await service.kill(victim);
        }
      }
      expect(pauses).toBeGreaterThan(2);
      const rest = await readAtRest(service.env);
      // Each pause is told by itself.
      expect(
        rest.findInconsistencies(victim).filter((what) => !JSON.stringify(what).includes('FILE_SYNC_LIMIT_REACHED')),
      ).toEqual([]);
      expect(rest.content(victim)).toEqual(calm.content('calm'));
      expect(await findDifferences(service.env)).toEqual([]);
      process.stdout.write(`${victim}: ${pauses} pauses\n`);
    }
  },
  VICTIMS.length * 180_000,
);
