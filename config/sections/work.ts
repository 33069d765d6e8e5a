import { DAY_MS } from '../../contract/files/coldStorage.js';
import type { OcrEngineName } from '../../contract/files/ocrLanguages.js';
import type { SettingName, Settings } from '../readSettings.js';
import type { Config } from '../types.js';

/** Returns the settings of ingests, deliveries and the periodic jobs. */
export function workSection(
  settings: Settings,
): Pick<
  Config,
  | 'ingest'
  | 'dryRun'
  | 'webhooks'
  | 'eventsKeptDays'
  | 'ledgerLifeDays'
  | 'maxQueuedFiles'
  | 'workerNiceness'
  | 'stallAfterMs'
  | 'reapIntervalMs'
  | 'schemaCheckMs'
  | 'coldSweepIntervalMs'
  | 'quarantineSweepIntervalMs'
  | 'scheduleCompareIntervalMs'
> {
  const milliseconds = (name: SettingName): number[] => settings.list(name).map((seconds) => Number(seconds) * 1000);
  return {
    ingest: {
      batchConcurrency: settings.number('BATCH_CONCURRENCY'),
      fileConcurrency: settings.number('FILE_CONCURRENCY'),
      workerFileConcurrency: settings.number('WORKER_FILE_CONCURRENCY'),
      activityConcurrency: settings.number('ACTIVITY_CONCURRENCY'),
      ocrConcurrency: settings.number('OCR_CONCURRENCY'),
      ocr: {
        engine: settings.string('OCR_ENGINE') as OcrEngineName,
        maxPages: settings.number('MAX_OCR_PAGES'),
        pagesAtOnce: settings.number('OCR_PROCESSES'),
        languages: settings.list('OCR_LANGUAGES'),
      },
      retryDelaysMs: milliseconds('RETRY_DELAYS_S'),
      limitRecheckMs: settings.number('LIMIT_RECHECK_S') * 1000,
      pausedRunMs: settings.number('PAUSED_RUN_DAYS') * DAY_MS,
      massDeletePercent: settings.number('MASS_DELETE_PERCENT'),
      quarantineMs: settings.number('QUARANTINE_DAYS') * DAY_MS,
    },
    dryRun: {
      samplePages: settings.number('DRY_RUN_SAMPLE_PAGES'),
      timeoutMs: settings.number('DRY_RUN_TIMEOUT_S') * 1000,
    },
    webhooks: {
      timeoutMs: settings.number('WEBHOOK_TIMEOUT_MS'),
      retryDelaysMs: milliseconds('WEBHOOK_RETRY_DELAYS_S'),
      connectionsPerHost: settings.number('WEBHOOK_CONNECTIONS_PER_HOST'),
    },
    eventsKeptDays: settings.number('EVENTS_KEPT_DAYS'),
    ledgerLifeDays: settings.number('LEDGER_LIFE_DAYS'),
    maxQueuedFiles: settings.number('MAX_QUEUED_FILES'),
    workerNiceness: settings.number('WORKER_NICENESS'),
    stallAfterMs: settings.number('STALL_AFTER_S') * 1_000,
    reapIntervalMs: settings.number('REAP_INTERVAL_S') * 1000,
    schemaCheckMs: settings.number('SCHEMA_CHECK_INTERVAL_S') * 1000,
    coldSweepIntervalMs: settings.number('COLD_SWEEP_INTERVAL_S') * 1000,
    quarantineSweepIntervalMs: settings.number('QUARANTINE_SWEEP_INTERVAL_S') * 1000,
    scheduleCompareIntervalMs: settings.number('SCHEDULE_COMPARE_INTERVAL_S') * 1000,
  };
}
