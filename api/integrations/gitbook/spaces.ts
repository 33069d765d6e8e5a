import Joi from 'joi';

import { operation } from '../../http/operation.js';
import { integer } from '../../schemas/fields.js';
import { callSource } from '../callSource.js';
import { accountOf, connectedSourceOf } from '../dataSourceOf.js';
import { named } from '../../schemas/reference.js';

/** Maximum number of spaces in the response. */
const MAX_SPACES = 10_000;

/** GET /integrations/gitbook/spaces: lists the current spaces of a connected GitBook. */
export const gitBookSpaces = operation({
  method: 'get',
  path: '/integrations/gitbook/spaces',
  operationId: 'gitbook_spaces_integrations_gitbook_spaces_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Lists the spaces of a connected GitBook.',
  description: [],
  query: Joi.object({ data_source_id: integer().required() }),
  answer: named(
    'GitbookSpaces',
    Joi.object({
      results: Joi.array()
        .items(
          named(
            'GitbookSpace',
            Joi.object({
              id: Joi.string().required(),
              name: Joi.string().allow('').required(),
              url: Joi.string().allow(null).required(),
            }),
          ),
        )
        .required(),
    }),
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
