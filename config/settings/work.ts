/** Settings of the workers: concurrency, retries and periodic checks. */
import Joi from 'joi';

import { count, type Setting } from './rules.js';

export const WORK_SETTINGS = {
  BATCH_CONCURRENCY: { schema: count(4), about: 'Maximum number of concurrent batches per run.' },
  WORKER_FILE_CONCURRENCY: {
    schema: count(64),
    about:
      'Maximum number of concurrent files per worker, over all batches. Users take turns; one user gets at most three quarters.',
  },
  FILE_CONCURRENCY: { schema: count(8), about: 'Maximum number of concurrent files per batch.' },
  WORKER_NICENESS: {
    schema: Joi.number().integer().min(0).max(19).default(0),
    about:
      'Priority of a worker and of the embedded Temporal, as for nice(1): 0 is normal, 19 the lowest. Above 0, other programs on the same processors can delay the work indefinitely.',
  },
  COMPUTE_NICENESS: {
    schema: Joi.number().integer().min(0).max(19).default(5),
    about: 'Niceness that is added to that of the worker for its embedding and OCR processes, as for nice(1).',
  },
  STALL_AFTER_S: {
    schema: count(60),
    about:
      'Seconds without progress after which a run with due work is `stalled`, if Temporal, the heartbeats of the workers or the stores show a cause.',
  },
  ACTIVITY_CONCURRENCY: { schema: count(32), about: 'Maximum number of concurrent activities per worker.' },
  RETRY_DELAYS_S: {
    schema: Joi.string()
      .pattern(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/)
      .default('5,30,120'),
    about:
      'Seconds before each retry of a file after a transient error. The number of values is the number of retries.',
  },
  WEBHOOK_TIMEOUT_MS: { schema: count(10_000), about: 'Time limit for the response of a webhook.' },
  WEBHOOK_RETRY_DELAYS_S: {
    schema: Joi.string()
      .pattern(/^\d+(\.\d+)?(,\d+(\.\d+)?)*$/)
      .default('5,300,1800,7200,18000,36000'),
    about:
      'Seconds before each retry of a failed delivery. The number of values is the number of retries; after the last one the delivery has failed.',
  },
  WEBHOOK_CONNECTIONS_PER_HOST: {
    schema: count(64),
    about:
      'Maximum number of concurrent deliveries per worker and host, over all webhooks. One webhook has at most eight.',
  },
  EVENTS_KEPT_DAYS: { schema: count(7), about: 'Days for which GET /events and the lists of deliveries keep entries.' },
  LEDGER_LIFE_DAYS: { schema: count(90), about: 'Days for which finished runs and their items are kept.' },
  LIMIT_RECHECK_S: {
    schema: Joi.number().greater(0).default(30),
    about: 'Seconds after which a run whose files are held back by a user limit checks the limit again.',
  },
  DRY_RUN_SAMPLE_PAGES: {
    schema: count(12),
    about: 'Number of pages, or files of an account, that a request with dry_run reads for its estimate.',
  },
  DRY_RUN_TIMEOUT_S: {
    schema: count(25),
    about: 'Seconds after which a request with dry_run returns its results so far. Half of the time is for discovery.',
  },
  PAUSED_RUN_DAYS: {
    schema: count(30),
    about:
      'Days that a run stays paused at its max_tokens. After that it ends and its unfinished files become SYNC_ABORTED.',
  },
  MAX_QUEUED_FILES: {
    schema: count(20_000, 0),
    about:
      'Maximum number of queued files per user. Further files are DELAYED until there is room, but each run always has some files in the queue. 0: no limit.',
  },
  MASS_DELETE_PERCENT: {
    schema: count(30, 0).max(100),
    about:
      "Share of a connected source's files that may be missing from a listing. If more are missing, the source is assumed to be faulty and no file is deleted; up to 10 missing files are always accepted. `npm run cli -- source approve-deletions ID` allows the next listing to delete them.",
  },
  QUARANTINE_DAYS: {
    schema: Joi.number().min(0).max(365).default(7),
    about:
      'Days during which files that vanished at their source can be restored (`POST /quarantined_files/restore`). For callers they are deleted immediately. 0: they are erased immediately.',
  },
  QUARANTINE_SWEEP_INTERVAL_S: {
    schema: count(300),
    about: 'Seconds between checks for files whose time in quarantine is over.',
  },
  REAP_INTERVAL_S: {
    schema: count(15),
    about:
      'Seconds between two checks for unfinished runs whose workflow no longer exists in Temporal. Such a run and its unfinished files are ended, or the run is started again. The delivery workflow of a webhook is checked after the same time, and started again if it was terminated.',
  },
  SCHEMA_CHECK_INTERVAL_S: {
    schema: count(10),
    about:
      'Seconds between reads of the stored version of the records. A process of an older version stops taking work when it reads a newer one; a migration waits twice as long before it begins.',
  },
  SCHEDULE_COMPARE_INTERVAL_S: {
    schema: count(600),
    about:
      'Seconds between comparisons of the schedules in Temporal with the stored ones, of data sources and sites that are synced automatically. Missing schedules are created in Temporal, and schedules of deleted records are removed. A changed setting reaches Temporal within seconds, without this comparison.',
  },
  COLD_SWEEP_INTERVAL_S: {
    schema: count(300),
    about: 'Seconds between checks for vectors unused for `hot_storage_time_to_live` days, which move to cold storage.',
  },
} as const satisfies Record<string, Setting>;
