import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { workflowIds } from '../../../contract/runs/workflowIds.js';
import type { TestUser } from '../../support/client.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

type Line = Readonly<Record<string, unknown>>;
/** The log of an ingest, as an operator reads it. */
const lines: string[] = [];
const parsed = (): Line[] => lines.map((line) => JSON.parse(line) as Line);
const linesWith = (message: string): Line[] => parsed().filter(({ msg }) => msg === message);

let service: TestService;
let user: TestUser;
let file: FileRecord;

beforeAll(async () => {
  service = await startService(
    { LOG_LEVEL: 'debug', ALLOWED_PRIVATE_HOSTS: '127.0.0.1' },
    { logTo: { write: (line) => void lines.push(line) } },
  );
  user = await service.user('logged');
  const { body } = await user.post<FileRecord>('/upload_text', { contents: 'Words that are not logged.' });
  file = await user.settled(body.id);
});
afterAll(() => service.close());

test('logs the caller of a request', async () => {
  const [line] = await waitFor(
    () => linesWith('request').filter(({ path }) => path === '/upload_text'),
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

/** Returns the id of the workflow that ingests the uploads of the file's user. */
const uploadsWorkflowId = (): string => service.names.idOf(workflowIds.uploads(file.organization_user_id ?? 0));

test('logs the ids of a run when it is accepted and when its workflow starts', async () => {
  const ids = { organizationId: 1, requestId: file.request_id };
  expect(linesWith('upload accepted')).toMatchObject([{ ...ids, fileId: file.id, userId: file.organization_user_id }]);
  const [started] = await waitFor(
    () => linesWith('workflow started or signalled'),
    ({ length }) => length > 0,
  );
  expect(started).toMatchObject({ ...ids, workflowId: uploadsWorkflowId() });
});

test('logs the workflow in every line of an activity', async () => {
  const ofActivities = await waitFor(
    () => parsed().filter(({ activity }) => typeof activity === 'string'),
    ({ length }) => length > 0,
  );
  expect(new Set(ofActivities.map(({ workflowId }) => workflowId))).toEqual(new Set([uploadsWorkflowId()]));
});

test('logs neither secrets nor contents of files', async () => {
  await fetch(`${service.url}/integrations/slack?code=a-secret-code&state=a-secret-state`);
  await fetch(`${service.url}/connections/the-name-that-opens-it`);
  await waitFor(
    () => linesWith('request').map(({ path }) => path),
    (paths) => paths.includes('/connections/{name}'),
  );
  const all = lines.join('');
  for (const hidden of [
    service.apiKey,
    user.token,
    'a-secret-code',
    'a-secret-state',
    'the-name-that-opens',
    'Words that are not',
  ])
    expect([hidden, all.includes(hidden)]).toEqual([hidden, false]);
});
