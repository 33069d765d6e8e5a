import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../contract/records.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { sfId } from '../emulators/salesforce.js';
import type { Listed, TestUser } from '../support/client.js';
import { answerFault } from '../support/contract.js';
import { everyRow } from '../support/everyRow.js';
import { startService, type TestService } from '../support/service.js';
import { soon } from '../support/soon.js';
import { type GitHubStand, standForGitHub } from '../support/sourceStands/github.js';
import { talkOfAtlas } from '../support/sourceStands/githubTalk.js';
import { type SalesforceStand, standForSalesforce } from '../support/sourceStands/salesforce.js';
import type { SourceStand } from '../support/sourceStands/stand.js';

/** Each operation that reads an account while its caller waits, once. test/system/sources/own has all that they do. */
const RECORD = {
  OwnerId: sfId('005', 'ada'),
  IsDeleted: false,
  CreatedDate: '2026-01-07T09:00:00.000+0000',
  LastModifiedDate: '2026-01-07T09:00:00.000+0000',
};
const CRM = {
  accounts: { object: 'Account', id: sfId('001', 'boats'), fields: { Name: 'Boats' } },
  contacts: { object: 'Contact', id: sfId('003', 'ben'), fields: { Name: 'Ben Low', LastName: 'Low' } },
  leads: { object: 'Lead', id: sfId('00Q', 'eel'), fields: { Name: 'Eel Lang', LastName: 'Lang', Status: 'Open' } },
  opportunities: {
    object: 'Opportunity',
    id: sfId('006', 'won'),
    fields: { Name: 'Won', StageName: 'Closed', CloseDate: '2026-03-01', IsClosed: true, IsWon: true },
  },
};
/** Lists of a repository, with what else each asks for and how much there is of it. */
const GITHUB_LISTS: readonly [string, object, number][] = [
  ['issues', {}, 3],
  ['pull_requests', {}, 1],
  ['pull_requests/comments', { pull_number: 2 }, 1],
  ['pull_requests/commits', { pull_number: 2 }, 1],
  ['pull_requests/files', { pull_number: 2 }, 1],
];

let service: TestService;
let user: TestUser;
let salesforce: SalesforceStand;
let github: GitHubStand;
let ids: { salesforce: number; github: number };

async function connect(stand: SourceStand, type: string): Promise<number> {
  stand.reset();
  const quiet = { sync_source_items: false, sync_files_on_connection: false };
  expect(await stand.connect(user, quiet)).toMatchObject({ status: 200 });
  const { id } = await soon(
    async () =>
      (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results.find(
        (source) => source.data_source_type === type,
      )!,
    (source) => source?.sync_status === 'READY',
  );
  return id;
}

beforeAll(async () => {
  [salesforce, github] = await Promise.all([standForSalesforce(), standForGitHub()]);
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: `${salesforce.settings},${github.settings}`,
    OAUTH_CLIENTS: `SALESFORCE=${CLIENT_ID}:${CLIENT_SECRET}`,
  });
  user = await service.user('reader');
  ids = { salesforce: await connect(salesforce, 'SALESFORCE'), github: await connect(github, 'GITHUB') };
  for (const { object, id, fields } of Object.values(CRM))
    salesforce.emulator.put(object, id, { ...RECORD, ...fields });
  github.emulator.repositories['ada/atlas']!.talk = talkOfAtlas();
});
afterAll(async () => {
  await service.close();
  await Promise.all([salesforce.close(), github.close()]);
});

/** Whether an answer of 200 is as both documents describe it. */
function described(method: 'get' | 'post', path: string, { status, body }: { status: number; body: unknown }): void {
  const operation = { method, path, status };
  expect([status, answerFault('ours', operation, body), answerFault('theirs', operation, body)]).toEqual([
    200,
    null,
    null,
  ]);
}

test('records of a CRM are listed, and each is read by its id', () =>
  everyRow(
    Object.entries(CRM),
    ([kind]) => kind,
    async ([kind, { id }]) => {
      const path = `/integrations/data/crm/${kind}`;
      const list = await user.post<{ data: { id: string }[] }>(path, { data_source_id: ids.salesforce });
      described('post', path, list);
      expect(list.body.data.map((one) => one.id)).toEqual([id]);
      const one = await user.get<{ id: string }>(`${path}/${id}?data_source_id=${ids.salesforce}`);
      described('get', `${path}/{id}`, one);
      expect(one.body.id).toBe(id);
    },
  ));

test('issues, pull requests and what belongs to one are listed', () =>
  everyRow(
    GITHUB_LISTS,
    ([what]) => what,
    async ([what, more, least]) => {
      const path = `/integrations/data/github/${what}`;
      const asked = { data_source_id: ids.github, repository: 'ada/atlas', ...more };
      const list = await user.post<{ data: unknown[] }>(path, asked);
      described('post', path, list);
      expect(list.body.data.length).toBeGreaterThanOrEqual(least);
    },
  ));

test('an issue and a pull request are read by their numbers', async () => {
  const query = `?data_source_id=${ids.github}&repository=ada/atlas`;
  const issue = await user.get<{ number: number }>(`/integrations/data/github/issues/4${query}`);
  described('get', '/integrations/data/github/issues/{issue_number}', issue);
  expect(issue.body.number).toBe(4);
  const pull = await user.get<{ number: number }>(`/integrations/data/github/pull_requests/2${query}`);
  described('get', '/integrations/data/github/pull_requests/{pull_number}', pull);
  expect(pull.body.number).toBe(2);
});
