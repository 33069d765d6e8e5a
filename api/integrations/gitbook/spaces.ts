import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { accountId } from '../../schemas/integrations.js';
import { callSource, LIVE } from '../callSource.js';
import { accountOf, connectedSourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/** Maximum number of spaces in the response. */
const MAX_SPACES = 10_000;

/** GET /integrations/gitbook/spaces: lists the current spaces of a connected GitBook account. */
export const gitBookSpaces = operation({
  method: 'get',
  path: '/integrations/gitbook/spaces',
  operationId: 'gitbook_spaces_integrations_gitbook_spaces_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'List the spaces of a connected GitBook account',
  description: [
    `Returns the spaces that the token can read now, up to ${MAX_SPACES.toLocaleString('en')}. Use it to choose \`space_ids\` for \`POST /integrations/gitbook/sync\`. ${LIVE}`,
  ],
  returns: 'Spaces that the token can read now, with the ids for a sync.',
  query: Joi.object({ data_source_id: accountId() }),
  answer: named(
    'GitbookSpaces',
    Joi.object({
      results: Joi.array()
        .items(
          named(
            'GitbookSpace',
            Joi.object({
              id: Joi.string()
                .required()
                .description('Id of the space, for `space_ids` of `POST /integrations/gitbook/sync`.'),
              name: Joi.string()
                .allow('')
                .required()
                .description('Title of the space, as users of GitBook see it. Several spaces may have the same title.'),
              url: Joi.string()
                .allow(null)
                .required()
                .description('Address of the space in GitBook. Null if it has none.'),
            }).description(
              'Space of a connected GitBook organization: a collection of pages. Each page of a synced space becomes a file.',
            ),
          ),
        )
        .required()
        .description('All spaces on one page, in the order of GitBook: up to 10,000.'),
    }).description('Spaces of a connected GitBook organization that its token can read.'),
  ),
  async handle({ caller, query, deps }) {
    const source = await connectedSourceOf(caller, query.data_source_id, deps.store, 'GITBOOK');
    const account = accountOf(source, deps);
    const results = await callSource('GitBook', async (signal) => {
      const spaces: { id: string; name: string; url: string | null }[] = [];
      for (let cursor: string | null | undefined; cursor !== null && spaces.length < MAX_SPACES;) {
        const { items, next } = await account.listRoots(cursor ?? null, signal);
        spaces.push(...items.map(({ externalId, name, externalUrl }) => ({ id: externalId, name, url: externalUrl })));
        cursor = next;
      }
      return spaces.slice(0, MAX_SPACES);
    });
    return { results };
  },
});
