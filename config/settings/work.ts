/** Work of the workers: how much at once, retries, sweeps. */
import Joi from 'joi';

import { count, type Setting } from './rules.js';

export const WORK_SETTINGS = {
  BATCH_CONCURRENCY: { schema: count(4), about: 'Batches of one run under way at once.' },
  WORKER_FILE_CONCURRENCY: {
    schema: count(64),
    about:
      'Files that one worker has under way at once, over all batches. Users take turns, and one user has three quarters of them at most.',
  },
  FILE_CONCURRENCY: { schema: count(8), about: 'Files of one batch under way at once.' },
  WORKER_NICENESS: {
    schema: Joi.number().integer().min(0).max(19).default(0),
    about:
      'Priority of a worker and of the embedded Temporal, as nice(1) counts: 0 is that of all programs, 19 the lowest. Above 0 other programs on the same processors can starve the work.',
  },
  COMPUTE_NICENESS: {
    schema: Joi.number().integer().min(0).max(19).default(5),
    about:
      'How far the processes of a worker that embed and that recognize text in pictures are behind the worker itself in priority, as nice(1) counts.',
  },
  STALL_AFTER_S: {
    schema: count(60),
    about:
      'Seconds without progress after which a run with due work is `stalled`, where Temporal, the heartbeats of the workers or the stores show a cause.',
  },
  ACTIVITY_CONCURRENCY: { schema: count(32), about: 'Activities that one worker runs at once.' },
  RETRY_DELAYS_S: {
    schema: Joi.string()
      .pattern(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/)
      .default('5,30,120'),
    about: 'Seconds before each new try of a file after a passing fault; their number is the number of new tries.',
  },
  WEBHOOK_TIMEOUT_MS: { schema: count(10_000), about: 'Time a webhook has to answer a delivery.' },
  WEBHOOK_RETRY_DELAYS_S: {
    schema: Joi.string()
      .pattern(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/)
      .default('5,300,1800,7200,18000,36000'),
    about:
      'Seconds before each new try of a delivery that failed; their number is the number of new tries, after which it is given up.',
  },
  WEBHOOK_CONNECTIONS_PER_HOST: {
    schema: count(64),
    about: 'Deliveries to one host at once by one worker, over all webhooks; one webhook has eight at most.',
  },
  EVENTS_KEPT_DAYS: { schema: count(7), about: 'Days that GET /events and the lists of deliveries go back.' },
  LEDGER_LIFE_DAYS: { schema: count(90), about: 'Days that runs which have ended, and what they did, are listed.' },
  LIMIT_RECHECK_S: {
    schema: Joi.number().greater(0).default(30),
    about: 'Seconds after which a run whose files are held back by a limit of their user looks for room again.',
  },
  DRY_RUN_SAMPLE_PAGES: {
    schema: count(12),
    about: 'Pages, or files of an account, that a request with dry_run reads to estimate the rest.',
  },
  DRY_RUN_TIMEOUT_S: {
    schema: count(25),
    about:
      'Seconds after which a request with dry_run answers with what it has seen; half of them are for finding what there is.',
  },
  PAUSED_RUN_DAYS: {
    schema: count(30),
    about:
      'Days that a run stands still at its max_tokens when nobody has it go on; then it ends, and its open files are SYNC_ABORTED.',
  },
  MAX_QUEUED_FILES: {
    schema: count(20_000, 0),
    about:
      'Files of one user that wait in the queue at most; further ones are DELAYED until there is room, but each run has some in it. 0: no bound.',
  },
  MASS_DELETE_PERCENT: {
    schema: count(30, 0).max(100),
    about:
      "Part of a connected source's files that may be missing from a listing before it counts as a fault of the source and nothing is deleted; up to 10 files may always. `npm run cli -- source approve-deletions ID` lets the next listing delete.",
  },
  QUARANTINE_DAYS: {
    schema: Joi.number().min(0).max(365).default(7),
    about:
      'Days that files which vanished at their source can be had back (`POST /quarantined_files/restore`); callers see them as deleted at once. 0: they are erased at once.',
  },
  QUARANTINE_SWEEP_INTERVAL_S: {
    schema: count(300),
    about: 'Seconds between looks for files whose time in quarantine is up.',
  },
  REAP_INTERVAL_S: {
    schema: count(15),
    about: 'Seconds between comparisons of records in motion with the state of their workflows.',
  },
  SCHEMA_CHECK_INTERVAL_S: {
    schema: count(10),
    about:
      'Seconds between reads of the stored version of the records. A process of an older version stops taking work when it reads a newer one; a migration waits twice as long before it begins.',
  },
  SCHEDULE_COMPARE_INTERVAL_S: {
    schema: count(600),
    about:
      'Seconds between comparisons of the schedules in Temporal with the records that are synced by themselves. Changes reach Temporal within seconds anyway.',
  },
  COLD_SWEEP_INTERVAL_S: {
    schema: count(300),
    about: 'Seconds between looks for vectors that were not used for their days and go into file storage.',
  },
} as const satisfies Record<string, Setting>;
