import Joi from 'joi';

import { idOfSince, isConversationId, secondsOf } from '../../../contract/sources/slackIds.js';
import { invalid } from '../../http/errors.js';
import { operation } from '../../http/operation.js';
import { estimate } from '../../schemas/estimates.js';
import { orNull } from '../../schemas/fields.js';
import { onlyAccountId, selectionFields } from '../../schemas/integrations.js';
import { onlySourceOf } from '../dataSourceOf.js';
import { selectionOptions } from '../selectionOptions.js';
import { AFTER_SELECTION, SELECTION_ACCEPTED, syncSelection } from '../syncSelection.js';
import type { Infer } from '../../schemas/inferred.js';
import { named } from '../../schemas/reference.js';
import { success } from '../../schemas/answers.js';

const text = () => Joi.string().max(100);

const requestBody = named(
  'SlackSyncRequest',
  Joi.object({
    filters: named(
      'SlackFilters',
      Joi.object({
        conversation_id: text()
          .allow('')
          .required()
          .description('Id of a channel or direct message, such as `C0123ABCD`. Another text returns 422.'),
        after: orNull(text().allow('')).description(
          'Start: a day (`YYYY/mm/dd`), a time (ISO 8601) or seconds since 1970, in UTC. Messages are synced from the start of the quarter of an hour that contains it. Absent, null or empty: all messages.',
        ),
      }).description(
        'One conversation of Slack, and the time from which its messages are synced. Without a time, all messages are synced.',
      ),
    )
      .required()
      .description('The conversation to sync, by id, and the time from which its messages are synced.'),
    data_source_id: onlyAccountId(),
    ...selectionFields(),
  }).description(
    'The Slack conversation to sync, and options for its files. After the response, a run queues a file for each quarter of an hour with messages and for each thread.',
  ),
);
type Body = Infer<typeof requestBody>;

/** Returns the item id of the selection. @throws HttpError 422 for an invalid conversation id or time */
function externalIdOf({ conversation_id: conversation, after = '' }: Body['filters']): string {
  if (!isConversationId(conversation))
    throw invalid(
      ['body', 'filters', 'conversation_id'],
      'Give the id of a conversation, such as C0123ABCD',
      'value_error',
    );
  const seconds = after === '' ? null : secondsOf(after);
  if (after !== '' && seconds === null)
    throw invalid(
      ['body', 'filters', 'after'],
      'Give a day (YYYY/mm/dd), a time (ISO 8601) or seconds since 1970',
      'value_error',
    );
  return idOfSince(conversation, seconds);
}

/** POST /integrations/slack/sync: creates files from the messages of a conversation, all of them or since a time. */
export const syncSlack = operation({
  method: 'post',
  path: '/integrations/slack/sync',
  operationId: 'slack_sync_integrations_slack_sync_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Sync a conversation of a connected Slack account',
  description: [
    `Creates files from the messages of one conversation, or syncs them again: a file for each quarter of an hour (UTC) with messages, and one for each thread. Of files that are shared in messages, only the name is read. Slack is never synced automatically; call this again for newer messages.

${AFTER_SELECTION}`,
  ],
  returns: SELECTION_ACCEPTED,
  createsWork: true,
  body: requestBody,
  answer: success,
  dryAnswer: estimate,
  async handle({ caller, body, given, deps }) {
    const externalIds = [externalIdOf(body.filters)];
    const source = await onlySourceOf(caller, body.data_source_id, deps.store, 'SLACK');
    const selection = { externalIds, ...selectionOptions(body, given, source) };
    return syncSelection(caller, source, selection, deps);
  },
});
