import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { integer, orNull } from '../../schemas/fields.js';
import { callSource } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/** Maximum page size of GitHub. */
const MAX_PER_PAGE = 100;

/** GET /integrations/github/repos: lists a page of the current repositories of a connected GitHub. */
export const gitHubRepos = operation({
  method: 'get',
  path: '/integrations/github/repos',
  operationId: 'github_list_repos_integrations_github_repos_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Lists the repositories of a connected GitHub.',
  description: [],
  query: Joi.object({
    per_page: integer().min(1).default(30),
    page: integer().min(1).default(1),
    data_source_id: orNull(integer()),
  }),
  answer: Joi.array()
    .items(
      named(
        'GithubRepository',
        Joi.object({
          // Text, because front-ends pass the id on to POST /integrations/github/sync_repos.
          id: Joi.string().required(),
          name: Joi.string().required(),
          url: Joi.string().allow(null).required(),
        }),
      ),
    )
    .required(),
  async handle({ caller, query, deps }) {
    const id = query.data_source_id;
    const source = await onlySourceOf(caller, id, deps.store, 'GITHUB');
    const account = accountOf(source, deps);
    const page = { number: query.page, size: Math.min(MAX_PER_PAGE, query.per_page) };
    const { containers } = await callSource('GitHub', (signal) => account.listContainers(page, signal));
    return containers.map(({ id: containerId, ...rest }) => ({ id: String(containerId), ...rest }));
  },
});
