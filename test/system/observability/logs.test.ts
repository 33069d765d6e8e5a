import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/records.js';
import { workflowIds } from '../../../contract/orchestration.js';
import type { TestUser } from '../../support/client.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

/** What somebody on call finds in the log of an ingest. */
type Line = Readonly<Record<string, unknown>>;
const lines: string[] = [];
const parsed = (): Line[] => lines.map((line) => JSON.parse(line) as Line);
const saying = (message: string): Line[] => parsed().filter(({ msg }) => msg === message);

let service: TestService;
let user: TestUser;
let file: FileRecord;

beforeAll(async () => {
  service = await startService(
    { LOG_LEVEL: 'debug', ALLOWED_PRIVATE_HOSTS: '127.0.0.1' },
    { logTo: { write: (line) => void lines.push(line) } },
  );
  user = await service.user('logged');
  const { body } = await user.post<FileRecord>('/upload_text', { contents: 'Words that nobody logs.' });
  file = await user.settled(body.id);
});
afterAll(() => service.close());

test('the line of a request says who called', async () => {
  const [line] = await waitFor(
    () => saying('request').filter(({ path }) => path === '/upload_text'),
    ({ length }) => length > 0,
  );
  expect(line).toMatchObject({
    requestId: expect.any(String),
    organizationId: 1,
    userId: file.organization_user_id,
    method: 'POST',
    status: 200,
    ms: expect.any(Number),
  });
});

/** The workflow that brings in the uploads of the file's user. */
const streamId = (): string => service.names.idOf(workflowIds.uploads(file.organization_user_id ?? 0));

test('accepting, starting and ending a run say what it is about', async () => {
  const whose = { organizationId: 1, requestId: file.request_id };
  expect(saying('upload accepted')).toMatchObject([{ ...whose, fileId: file.id, userId: file.organization_user_id }]);
  const [started] = await waitFor(
    () => saying('workflow started'),
    ({ length }) => length > 0,
  );
  expect(started).toMatchObject({ ...whose, workflowId: streamId() });
});

test('every line of an activity says of which workflow it is', async () => {
  const ofActivities = await waitFor(
    () => parsed().filter(({ activity }) => typeof activity === 'string'),
    ({ length }) => length > 0,
  );
  expect(new Set(ofActivities.map(({ workflowId }) => workflowId))).toEqual(new Set([streamId()]));
});

test('no line holds what opens something, or what a file holds', async () => {
  await fetch(`${service.url}/integrations/slack?code=a-code-of-somebody&state=a-state-of-somebody`);
  await fetch(`${service.url}/connections/the-name-that-opens-it`);
  await waitFor(
    () => saying('request').map(({ path }) => path),
    (paths) => paths.includes('/connections/{name}'),
  );
  const all = lines.join('');
  for (const hidden of [
    service.apiKey,
    user.token,
    'a-code-of-somebody',
    'a-state-of-somebody',
    'the-name-that-opens',
    'Words that nobody',
  ])
    expect([hidden, all.includes(hidden)]).toEqual([hidden, false]);
});
