import Joi from 'joi';

import { invalid } from '../../http/errors.js';
import { operation } from '../../http/operation.js';
import { nullable, orNull } from '../../schemas/fields.js';
import { onlyAccountId } from '../../schemas/integrations.js';
import { named } from '../../schemas/reference.js';
import { callSource, LIVE } from '../callSource.js';
import { accountOf, onlySourceOf } from '../dataSourceOf.js';

const TYPES = new Set(['public_channel', 'private_channel', 'mpim', 'im']);
const MAX_CURSOR = 1_024;

const flag = (description: string) => Joi.boolean().required().description(description);
const conversation = named(
  'SlackConversation',
  Joi.object({
    id: Joi.string().required().description('Id of the conversation at Slack, for `POST /integrations/slack/sync`.'),
    name: Joi.string()
      .allow('')
      .required()
      .description('Name of the channel. A direct message is named after its participants.'),
    is_channel: flag('Whether it is a channel, public or private, and not a direct message.'),
    is_im: flag('Whether it is a direct message with one person, whose id is in `user`.'),
    is_mpim: flag('Whether it is a direct message with several people, who can be seen in `name`.'),
    is_private: flag('Whether only its members see it; the connected account is one of them.'),
    is_shared: flag('Whether it is shared with another workspace (Slack Connect), so that people of both write in it.'),
    is_archived: flag('Whether it was archived, so that it gets no more messages.'),
    user: nullable(Joi.string())
      .required()
      .description(
        'Id at Slack of the other person of a direct message. Null for channels and for messages among several people.',
      ),
  }).description(
    'A channel or direct message of a connected Slack account. `POST /integrations/slack/sync` takes its `id`.',
  ),
);

/** GET /integrations/slack/conversations: lists a page of the current conversations of a connected Slack account. */
export const slackConversations = operation({
  method: 'get',
  path: '/integrations/slack/conversations',
  operationId: 'slack_list_conversations_integrations_slack_conversations_get',
  tag: 'Integrations',
  auth: 'user',
  summary: 'List the conversations of a connected Slack account',
  description: [
    `Returns a page of the channels and direct messages that the connected user sees now. Use the \`id\` of one in \`POST /integrations/slack/sync\`. Follow \`next_cursor\` to the last page, also after a page with few or no entries. ${LIVE}`,
  ],
  returns: 'One page of channels and direct messages that the token can read, and the cursor of the next page.',
  query: Joi.object({
    types: Joi.string()
      .allow('')
      .max(100)
      .default('public_channel')
      .description(
        'Kinds of conversations, separated by commas: `public_channel`, `private_channel`, `mpim` (direct messages of a group), `im` (direct messages of two users). Another value returns 422.',
      ),
    cursor: orNull(Joi.string().allow('').max(MAX_CURSOR)).description(
      '`next_cursor` of the previous response. Absent or empty: the first page.',
    ),
    data_source_id: onlyAccountId(),
    exclude_archived: Joi.boolean()
      .default(true)
      .description('`true`: archived channels are omitted. `false`: they are listed too, with `is_archived: true`.'),
  }),
  answer: named(
    'SlackConversations',
    Joi.object({
      results: Joi.array()
        .items(conversation)
        .required()
        .description(
          'Conversations of this page. A page may be short or empty although more follow: continue until `next_cursor` is null.',
        ),
      next_cursor: Joi.string()
        .allow(null)
        .required()
        .description('Cursor of the next page: send it as `cursor` in the next request. `null` after the last page.'),
    }).description('A page of conversations, and the cursor of the next one.'),
  ),
  async handle({ caller, query, deps }) {
    const kinds = (query.types || 'public_channel').split(',').map((type) => type.trim());
    if (!kinds.every((type) => TYPES.has(type)))
      throw invalid(
        ['query', 'types'],
        `Send one or more of ${[...TYPES].join(', ')}, separated by commas`,
        'value_error',
      );
    const source = await onlySourceOf(caller, query.data_source_id, deps.store, 'SLACK');
    const account = accountOf(source, deps);
    const request = {
      types: kinds.join(','),
      cursor: query.cursor || null,
      excludeArchived: query.exclude_archived,
    };
    return callSource('Slack', (signal) => account.read('conversations', request, signal));
  },
});
