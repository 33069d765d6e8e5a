import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { type AssemblyAi, startAssemblyAi } from '../../emulators/assemblyai.js';
import { type Deepgram, startDeepgram } from '../../emulators/deepgram.js';
import { recordingOf } from '../../emulators/speech.js';
import { readStoredState } from '../../support/storedState.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { thoroughly } from '../../support/thorough.js';

let deepgram: Deepgram;
let assemblyai: AssemblyAi;

beforeAll(async () => {
  [deepgram, assemblyai] = await Promise.all([startDeepgram('right'), startAssemblyAi('right')]);
});
afterAll(() => Promise.all([deepgram.close(), assemblyai.close()]));

const OPTIONS = { skip_embedding_generation: true };

/** Runs `work` with a service that has these settings. */
async function withService(settings: Record<string, string>, work: (service: TestService) => Promise<void>) {
  const service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    DEEPGRAM_BASE_URL: deepgram.url,
    ASSEMBLYAI_BASE_URL: assemblyai.url,
    ASSEMBLYAI_POLL_S: '0.05',
    ...settings,
  });
  try {
    await work(service);
    expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
  } finally {
    await service.close();
  }
}

const uploaded = async (service: TestService, query: Record<string, unknown> = {}): Promise<FileRecord> => {
  const user = await service.user('sam');
  const { id } = await user.send({ name: 'talk.mp3', content: recordingOf('talk') }, { ...OPTIONS, ...query });
  return user.settled(id);
};

test('names the missing settings when no service is configured, and can still store the recording', async () => {
  await withService({}, async (service) => {
    expect(await uploaded(service)).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringMatching(/DEEPGRAM_API_KEY or ASSEMBLYAI_API_KEY/),
    });
    expect(await uploaded(service, { transcription_service: 'assemblyai' })).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringMatching(/assemblyai is not configured.*ASSEMBLYAI_API_KEY/),
    });
    expect(await uploaded(service, { store_file_only: true })).toMatchObject({ sync_status: 'READY' });
  });
  expect({ deepgram: deepgram.calls, assemblyai: assemblyai.uploads }).toEqual({ deepgram: [], assemblyai: [] });
});

thoroughly('uses the only configured service, but not instead of another one that the file names', async () => {
  await withService({ ASSEMBLYAI_API_KEY: 'right' }, async (service) => {
    expect(await uploaded(service)).toMatchObject({ file_metadata: { transcription_service: 'assemblyai' } });
    expect(await uploaded(service, { transcription_service: 'deepgram' })).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringContaining('DEEPGRAM_API_KEY'),
    });
  });
});

test('uses TRANSCRIPTION_SERVICE when both are configured, unless the file names one', async () => {
  const settings = { DEEPGRAM_API_KEY: 'right', ASSEMBLYAI_API_KEY: 'right', TRANSCRIPTION_SERVICE: 'assemblyai' };
  await withService(settings, async (service) => {
    expect(await uploaded(service)).toMatchObject({ file_metadata: { transcription_service: 'assemblyai' } });
    expect(await uploaded(service, { transcription_service: 'deepgram' })).toMatchObject({
      file_metadata: { transcription_service: 'deepgram' },
    });
  });
});

thoroughly('names the setting of a rejected key, and not its value', async () => {
  await withService({ DEEPGRAM_API_KEY: 'wrong one', ASSEMBLYAI_API_KEY: 'wrong one' }, async (service) => {
    for (const [transcription_service, setting] of [
      ['deepgram', 'DEEPGRAM_API_KEY'],
      ['assemblyai', 'ASSEMBLYAI_API_KEY'],
    ]) {
      const file = await uploaded(service, { transcription_service });
      expect(file).toMatchObject({ sync_status: 'SYNC_ERROR', sync_error_message: expect.stringContaining(setting!) });
      expect(file.sync_error_message).not.toContain('wrong one');
    }
  });
});

thoroughly('refuses an address of the private network unless it is allowed', async () => {
  await withService({ DEEPGRAM_API_KEY: 'right', ALLOWED_PRIVATE_HOSTS: '' }, async (service) => {
    expect(await uploaded(service)).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringContaining('ALLOWED_PRIVATE_HOSTS'),
    });
  });
});

thoroughly('reads texts while recordings wait, and transcribes one recording after another', async () => {
  const settings = { DEEPGRAM_API_KEY: 'right', TRANSCRIPTION_CONCURRENCY: '1', ACTIVITY_CONCURRENCY: '1' };
  await withService(settings, async (service) => {
    const user = await service.user('tess');
    deepgram.scenarios.set('long', { injectedFaults: ['hang', 'hang'] });
    const countCalls = () => deepgram.calls.filter(({ scenario }) => scenario === 'long').length;
    const recordings = await Promise.all(
      ['a.mp3', 'b.mp3', 'c.mp3'].map((name) => user.send({ name, content: recordingOf('long') }, OPTIONS)),
    );
    await waitFor(countCalls, (calls) => calls === 1);
    const text = await user.send({ name: 'notes.txt', content: 'Otters juggle.' }, OPTIONS);
    expect(await user.settled(text.id)).toMatchObject({ sync_status: 'READY' });
    expect(countCalls()).toBe(1);
    for (const { id } of recordings) {
      expect((await user.file(id)).sync_status).toMatch(/^(SYNCING|QUEUED_FOR_SYNC)$/);
      await user.post('/cancel_sync', { file_id: id });
    }
    for (const { id } of recordings) expect(await user.settled(id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
  });
});
