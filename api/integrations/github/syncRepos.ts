import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import type { Container } from '../../../connectors/sourceItem.js';
import { HttpError, notFound } from '../../http/errors.js';
import { operation } from '../../http/operation.js';
import { itemIds, onlyAccountId } from '../../schemas/integrations.js';
import { acceptListing } from '../../../store/connections/acceptRuns.js';
import { callSource } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';
import { success } from '../../schemas/answers.js';

const MAX_REPOS = 25;
const PAGE_SIZE = 100;

/** Returns whether a text names a repository: by its id, its URL, `owner/name`, or its name. */
function isNamedBy(word: string, { id, externalId, url }: Container): boolean {
  const normalised = word.trim().toLowerCase();
  const full = externalId.toLowerCase();
  return [String(id), full, full.slice(full.indexOf('/') + 1), url?.toLowerCase()].includes(normalised);
}

/** POST /integrations/github/sync_repos: lists the contents of some repositories for selection. */
export const syncGitHubRepos = operation({
  method: 'post',
  path: '/integrations/github/sync_repos',
  operationId: 'github_sync_repos_integrations_github_sync_repos_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'List the files of repositories of a connected GitHub account',
  description: [
    `Starts a run that lists the directories and files of up to ${MAX_REPOS} repositories, in their default branches. No file is synced: use it before \`POST /integrations/items/list\` and \`POST /integrations/files/sync\`.

\`sync_status\` of the data source shows the state; the event \`DATA_SOURCE_READY\` reports the end. An unknown or ambiguous repository returns 400. While the account is being listed, the response is 409.`,
    'After `SYNC_ERROR` or a cancellation, the event `DATA_SOURCE_READY` is not emitted: poll `sync_status`, too.',
  ],
  returns: '`success: true`: a run now lists the files of the named repositories.',
  createsWork: true,
  body: named(
    'GithubFetchReposRequest',
    Joi.object({
      repos: itemIds()
        .min(1)
        .max(MAX_REPOS)
        .required()
        .description(
          'Repositories to list, 1 to 25, each by its id, `owner/name` or address. A name alone is accepted if only one repository of the account has it.',
        ),
      data_source_id: onlyAccountId(),
    }).description('The connected GitHub account, and the repositories whose files are listed.'),
  ),
  answer: success,
  async handle({ caller, body: { repos, data_source_id: id }, deps }) {
    const { store, unit } = deps;
    const source = await onlySourceOf(caller, id, store, 'GITHUB');
    const account = accountOf(source, deps);
    const repositories = await callSource('GitHub', async (signal) => {
      const containers: Container[] = [];
      for (let number: number | null = 1; number !== null;) {
        const page = await account.listContainers({ number, size: PAGE_SIZE }, signal);
        containers.push(...page.containers);
        number = page.next;
      }
      return containers;
    });
    const matches = repos.map((word) => repositories.filter((repository) => isNamedBy(word, repository)));
    if (matches.some((found) => found.length !== 1))
      throw new HttpError(
        400,
        'Each entry of repos must identify one repository of the connected account, as GET /integrations/github/repos returns it.',
      );
    const runId = await store.runs.nextId();
    await unit.transaction(async (session) => {
      const queued = await store.dataSources.queueListing(caller, source._id, runId, session);
      if (!queued) throw notFound('data source');
      if (queued.itemsRunId !== runId)
        throw new HttpError(
          409,
          'The items of this data source are being listed. Try again when the listing has ended.',
        );
      const run = { runId, requestId: randomUUID(), dataSourceId: source._id };
      await acceptListing(
        caller,
        run,
        store,
        session,
        matches.flatMap((found) => found.map(({ externalId }) => externalId)),
      );
    });
    unit.start(runId);
    return { success: true };
  },
});
