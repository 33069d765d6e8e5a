import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { integer } from '../../schemas/fields.js';
import { onlyAccountId } from '../../schemas/integrations.js';
import { callSource, LIVE } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/** Maximum page size of GitHub. */
const MAX_PER_PAGE = 100;

/** GET /integrations/github/repos: lists a page of the current repositories of a connected GitHub account. */
export const gitHubRepos = operation({
  method: 'get',
  path: '/integrations/github/repos',
  operationId: 'github_list_repos_integrations_github_repos_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'List the repositories of a connected GitHub account',
  description: [
    `Returns a page of the repositories that the token can read now, oldest first. Use their ids or names in \`POST /integrations/github/sync_repos\`. A page after the last one is empty. ${LIVE}`,
  ],
  returns: 'Repositories of this page that the token can read, as an array.',
  query: Joi.object({
    per_page: integer()
      .min(1)
      .default(30)
      .description(
        `Maximum number of repositories per page. GitHub returns at most ${MAX_PER_PAGE}; a higher number has the same effect.`,
      ),
    page: integer()
      .min(1)
      .default(1)
      .description('Number of the page, counted from 1. A page after the last one is empty.'),
    data_source_id: onlyAccountId(),
  }),
  answer: Joi.array()
    .items(
      named(
        'GithubRepository',
        Joi.object({
          // Text, because front ends send the id to POST /integrations/github/sync_repos.
          id: Joi.string()
            .required()
            .description(
              'Id of the repository at GitHub, as text, such as `123456789`. Renaming the repository does not change it. `repos` of `POST /integrations/github/sync_repos` accepts it.',
            ),
          name: Joi.string()
            .required()
            .description(
              'Full name with its owner, `owner/name`. `POST /integrations/github/sync_repos` accepts it in `repos`.',
            ),
          url: Joi.string()
            .allow(null)
            .required()
            .description('Address of the repository in the browser. Never null in this version.'),
        }).description(
          'GitHub repository that the connected token can read. Its files are listed by `POST /integrations/github/sync_repos`.',
        ),
      ),
    )
    .required(),
  async handle({ caller, query, deps }) {
    const id = query.data_source_id;
    const source = await onlySourceOf(caller, id, deps.store, 'GITHUB');
    const account = accountOf(source, deps);
    const page = { number: query.page, size: Math.min(MAX_PER_PAGE, query.per_page) };
    const { containers } = await callSource('GitHub', (signal) => account.listContainers(page, signal));
    return containers.map(({ id: containerId, externalId: name, url }) => ({ id: String(containerId), name, url }));
  },
});
