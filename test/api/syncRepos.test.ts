import { expect, test } from '@jest/globals';

import { syncGitHubRepos } from '../../api/integrations/github/syncRepos.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

const repository = (id: number, externalId: string) => ({
  id,
  externalId,
  url: `https://github.com/${externalId}`,
});
const PAGES = [
  { containers: [repository(1, 'Ada/Atlas'), repository(2, 'ada/notes')], next: 2 },
  { containers: [repository(3, 'bob/notes')], next: null },
];

/**
 * Returns the repositories whose files the accepted run lists, or the HTTP status if the request is refused.
 * @param isBusy whether another run is listing the account
 */
async function listed(repos: readonly string[], isBusy = false): Promise<unknown> {
  const runId = 7;
  const { stores, of } = recorder({
    'dataSources.find': { _id: 5, type: 'GITHUB', revokedAccess: false, sealedCredentials: 'x' },
    'dataSources.queueListing': { itemsRunId: isBusy ? 6 : runId },
    'runs.nextId': runId,
  });
  const listContainers = ({ number }: { number: number }) => Promise.resolve(PAGES[number - 1]);
  const deps = {
    ...{
      store: { ...(stores as object), accountCredentials: () => 'x' },
      connectors: { account: () => ({ listContainers }) },
    },
    unit: { transaction: (work: (session: null) => unknown) => work(null), start: () => undefined },
  };
  const call = { caller: { organizationId: 1, userId: 2 }, body: { repos, data_source_id: 5 }, deps };
  try {
    await syncGitHubRepos.handle(call as never);
  } catch (error) {
    return (error as { status?: number }).status ?? error;
  }
  const [[, run] = []] = of('runs.accept') as [number, { progress: { walk: { open: string[] } } }][];
  return run?.progress.walk.open;
}

test('a repository is identified by its id, URL, full name, or short name if unambiguous', () =>
  everyRow(
    [
      [['1'], ['Ada/Atlas']],
      [['ada/atlas'], ['Ada/Atlas']],
      [[' ATLAS '], ['Ada/Atlas']],
      [['https://github.com/ada/atlas'], ['Ada/Atlas']],
      [
        ['bob/notes', '2'],
        ['bob/notes', 'ada/notes'],
      ],
      [['notes'], 400],
      [['atlas', 'nothing'], 400],
    ] as [string[], unknown][],
    ([repos]) => repos.join(),
    async ([repos, expected]) => expect(await listed(repos)).toEqual(expected),
  ));

test('refuses an account that is being listed', async () => {
  expect(await listed(['1'], true)).toBe(409);
});
