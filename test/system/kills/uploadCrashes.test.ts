import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { MAX_CRASHES } from '../../../contract/files/uploads.js';
import type { TestUser } from '../../support/client.js';
import { startService, type TestService } from '../../support/service.js';

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  // Every reader exceeds this limit, so that each attempt ends as if the reader hung.
  service = await startService({ PARSE_FILE_TIMEOUT_MS: '1' });
  user = await service.user('cra');
});
afterAll(async () => {
  await service.close();
});

test('no longer reads content that crashed its reader several times, but reads other content', async () => {
  const contents = 'Words that take too long. '.repeat(100_000);
  const { id } = await user.send({ name: 'hanging.txt', content: contents }, { skip_embedding_generation: true });
  const tried: string[] = [];
  for (let tries = 0; ; tries += 1) {
    const file = await user.settled(id);
    expect(file.sync_status).toBe('SYNC_ERROR');
    tried.push(file.sync_error_message ?? '');
    if (tries === MAX_CRASHES + 1) break;
    // With another option, the same content still crashes its reader.
    expect((await user.post('/resync_file', { file_id: id, chunk_size: 100 + tries })).status).toBe(200);
  }
  const refusals = tried.map((message) => /has crashed 3 times/.test(message));
  expect(refusals).toEqual([false, false, false, true, true]);
  const other = await user.send({ name: 'hanging.txt', content: `${contents}!` }, { skip_embedding_generation: true });
  expect((await user.settled(other.id)).sync_error_message).not.toMatch(/has crashed/);
});
