import Joi from 'joi';

import { invalid } from '../../http/errors.js';
import { operation } from '../../http/operation.js';
import { integer, orNull } from '../../schemas/fields.js';
import { named } from '../../schemas/reference.js';
import { callSource } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';

const TYPES = new Set(['public_channel', 'private_channel', 'mpim', 'im']);
const MAX_CURSOR = 1_024;

/** GET /integrations/slack/conversations: lists a page of the current conversations of a connected Slack. */
export const slackConversations = operation({
  method: 'get',
  path: '/integrations/slack/conversations',
  operationId: 'slack_list_conversations_integrations_slack_conversations_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Lists the conversations of a connected Slack.',
  description: [],
  query: Joi.object({
    types: Joi.string().allow('').max(100).default('public_channel'),
    cursor: orNull(Joi.string().allow('').max(MAX_CURSOR)),
    data_source_id: orNull(integer()),
    exclude_archived: Joi.boolean().default(true),
  }),
  answer: named(
    'SlackConversations',
    Joi.object({
      results: Joi.array().items(Joi.object().unknown()).required(),
      next_cursor: Joi.string().allow(null).required(),
    }),
  ),
  async handle({ caller, query, deps }) {
    const kinds = (query.types || 'public_channel').split(',').map((type) => type.trim());
    if (!kinds.every((type) => TYPES.has(type)))
      throw invalid(['query', 'types'], `Name some of ${[...TYPES].join(', ')}, by comma`, 'value_error');
    const source = await onlySourceOf(caller, query.data_source_id, deps.store, 'SLACK');
    const account = accountOf(source, deps);
    const asked = {
      types: kinds.join(','),
      cursor: query.cursor || null,
      excludeArchived: query.exclude_archived,
    };
    return callSource('Slack', (signal) => account.read('conversations', asked, signal));
  },
});
