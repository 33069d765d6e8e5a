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

const TRANSCRIPT = {
  service: 'deepgram',
  options: { detectLanguage: false, speakers: false },
  segments: [{ text: 'Hi' }],
};
const OPTIONS = { detectLanguage: true, speakers: true };

/** Runs the transcription step to its end. */
async function transcribeOnce({
  file = FILE as object | null,
  stored = { transcript: null, job: null } as object | null,
  result = TRANSCRIPT as object,
  saveJob = async (): Promise<void> => undefined,
}) {
  const { stores, of } = recorder({ 'files.findSyncing': file });
  const saved: unknown[] = [];
  const chosen: unknown[] = [];
  const calls: unknown[][] = [];
  const provider = {
    service: 'assemblyai',
    async transcribe(recording: { size: number }, options: unknown, job: StoredJob) {
      calls.push([recording.size, options, job.id]);
      if (job.id === null) await job.save('job-2');
      return result;
    },
  };
  const transcripts = {
    find: async () => stored,
    saveJob,
    save: async (_owner: unknown, text: unknown) => saved.push(text),
  };
  const deps = {
    store: Object.assign(stores, { transcripts }),
    transcriptions: {
      choose(service: unknown) {
        chosen.push(service);
        return provider;
      },
    },
    log: { debug: () => undefined, info: () => undefined, error: () => undefined },
    settings: { retryDelaysMs: [] },
  } as never;
  const context = { cancellationSignal: new AbortController().signal } as never;
  const { transcribe } = createTranscribeActivities(deps);
  const end = await asyncLocalStorage
    .run(context, () => transcribe({ runId: 7, fileId: 3 }))
    .catch((error: unknown) => error);
  return { end, saved, chosen, calls, failures: of('files.fail').map(([, , message]) => message) };
}

test('a recording is transcribed once, by the service of its request or of its earlier job', async () => {
  const first = await transcribeOnce({});
  expect([first.end, first.chosen, first.saved]).toEqual([{ done: true }, [null], [TRANSCRIPT]]);
  expect(first.calls).toMatchObject([[4, {}, null]]);
  const requested = await transcribeOnce({ file: { ...FILE, options: { transcriptionService: 'deepgram' } } });
  expect(requested.chosen).toEqual(['deepgram']);
  // The job continues with the options with which it was created.
  const job = { service: 'assemblyai', options: OPTIONS, id: 'job-1' };
  const continued = await transcribeOnce({ stored: { transcript: null, job } });
  expect([continued.chosen, continued.calls]).toEqual([['assemblyai'], [[4, OPTIONS, 'job-1']]]);
  const other = await transcribeOnce({ stored: { transcript: null, job: { ...job, service: 'deepgram' } } });
  expect(other.calls).toMatchObject([[4, {}, null]]);
  const done = await transcribeOnce({ stored: { transcript: TRANSCRIPT, job: null } });
  expect([done.end, done.calls]).toEqual([{ done: true }, []]);
  expect((await transcribeOnce({ file: null })).end).toEqual({ done: false });
});

test('a recording without speech, or whose content was deleted, fails; an outage of the store does not fail it', async () => {
  const silent = await transcribeOnce({ result: { ...TRANSCRIPT, segments: [] } });
  expect([silent.end, silent.saved, silent.failures]).toEqual([
    ...[{ done: false }, []],
    [expect.stringContaining('No speech')],
  ]);
  const deleted = await transcribeOnce({ stored: null });
  expect([deleted.end, deleted.failures]).toEqual([{ done: false }, [expect.stringContaining('no longer exists')]]);
  const down = new Error('The store does not answer');
  const outage = await transcribeOnce({ saveJob: () => Promise.reject(down) });
  expect([outage.end, outage.failures]).toEqual([down, []]);
});
