import { asyncLocalStorage } from '@temporalio/activity';
import { expect, test } from '@jest/globals';

import { createTranscribeActivities } from '../../activities/ingest/transcribe.js';
import type { FileDoc } from '../../store/models/files.js';
import type { StoredJob } from '../../providers/transcription/types.js';
import { recorder } from '../support/recorder.js';

const FILE = {
  ...{ _id: 3, organizationId: 1, userId: 2, syncStatus: 'SYNCING', lastGeneration: 1, original: { id: 9, size: 4 } },
  ...{ statistics: { fileFormat: 'MP3', mimeType: 'audio/mpeg' }, options: { storeFileOnly: false } },
} as unknown as FileDoc;

/**
 * Runs the transcription step and aborts it while the service transcribes.
 * @param reason the reason that the SDK gives for the abort
 * @param created whether the service has created a job before the abort
 */
async function endedWhileWaiting(
  reason: string,
  { created = true, deletes = async () => undefined }: { created?: boolean; deletes?: () => Promise<void> } = {},
) {
  const { stores, of } = recorder({ 'files.findSyncing': FILE });
  const jobs: (string | null)[] = [];
  const abandoned: string[] = [];
  const abort = new AbortController();
  const provider = {
    service: 'assemblyai',
    async transcribe(_recording: unknown, _options: unknown, job: StoredJob, signal: AbortSignal) {
      if (created) await job.save('job-1');
      abort.abort(new Error(reason));
      signal.throwIfAborted();
    },
    abandon: (id: string) => {
      abandoned.push(id);
      return deletes();
    },
  };
  const transcripts = {
    find: async () => ({ transcript: null, job: null }),
    saveJob: async (_owner: unknown, job: { id: string } | null) => void jobs.push(job?.id ?? null),
  };
  const deps = {
    store: Object.assign(stores, { transcripts }),
    transcriptions: { choose: () => provider },
    log: { debug: () => undefined, error: () => undefined },
    settings: { retryDelaysMs: [] },
  } as never;
  const context = { cancellationSignal: abort.signal } as never;
  const { transcribe } = createTranscribeActivities(deps);
  const result = await asyncLocalStorage
    .run(context, () => transcribe({ runId: 7, fileId: FILE._id }))
    .catch((error: unknown) => (error as Error).message);
  return { end: result, jobs, abandoned, failed: of('files.fail').length };
}

test('a cancelled run deletes the job of its recording at the service, and the stored id of the job', async () => {
  const expected = { end: 'CANCELLED', jobs: ['job-1', null], abandoned: ['job-1'], failed: 0 };
  expect(await endedWhileWaiting('CANCELLED')).toEqual(expected);
  // The run ends even if the service does not delete the job.
  expect(await endedWhileWaiting('CANCELLED', { deletes: () => Promise.reject(new Error('down')) })).toEqual(expected);
});

test('a worker that shuts down leaves the job to the next worker', async () => {
  expect(await endedWhileWaiting('WORKER_SHUTDOWN')).toEqual({
    ...{ end: 'WORKER_SHUTDOWN', jobs: ['job-1'], abandoned: [], failed: 0 },
  });
});

test('a run that is cancelled before the service has a job deletes nothing', async () => {
  expect(await endedWhileWaiting('CANCELLED', { created: false })).toEqual({
    ...{ end: 'CANCELLED', jobs: [], abandoned: [], failed: 0 },
  });
});
