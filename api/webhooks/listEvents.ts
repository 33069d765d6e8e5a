import Joi from 'joi';

import { eventId, eventPayload } from '../../contract/events.js';
import { operation } from '../http/operation.js';
import { integer } from '../schemas/fields.js';
import { eventFields } from '../schemas/webhooks.js';
import { named } from '../schemas/reference.js';

const MAX_EVENTS = 1000;

/** GET /events: lists the organization's events after a cursor, in the order of their cursors. */
export const listEvents = operation({
  method: 'get',
  path: '/events',
  operationId: 'list_events',
  tag: 'Events',
  auth: 'key',
  summary: 'List events',
  description: [
    'Lists events of the organization after a cursor, oldest first. Use it to catch up after downtime of a receiver, or instead of a webhook. Start with `after=0`, then send `next_cursor` while `has_more` is true, and later to poll. Events are kept for `EVENTS_KEPT_DAYS`, with or without a webhook.',
  ],
  returns: 'Events after the cursor, oldest first, and the cursor for the next request.',
  query: Joi.object({
    after: integer().min(0).default(0).description('Only events after this cursor; 0 for all stored events.'),
    limit: integer()
      .min(1)
      .max(MAX_EVENTS)
      .default(100)
      .description('Maximum number of events in the response; `has_more` is true if more exist.'),
  }),
  answer: named(
    'EventFeed',
    Joi.object({
      results: Joi.array()
        .items(
          named(
            'FeedEvent',
            Joi.object({
              cursor: integer().required().description('Position in the feed of the organization: 1, 2, 3 and so on.'),
              event_id: Joi.string().required().description('Id of the event, sent to webhooks as `webhook-id`.'),
              ...eventFields,
            }).description('An event as webhooks receive it, with its position in the feed.'),
          ),
        )
        .required()
        .description('At most `limit` events after the cursor, oldest first. Empty if there are no later ones.'),
      next_cursor: integer()
        .required()
        .description(
          'Cursor to send as `after` in the next request: the last `cursor`, or the given one if there are no events.',
        ),
      has_more: Joi.boolean()
        .required()
        .description('`true`: more events exist after `next_cursor`. Request the next page without waiting.'),
    }).description('One page of the event feed, oldest first, and the cursor for the next request.'),
  ),
  async handle({ caller: { organizationId }, query, deps: { store, workflowLink } }) {
    const { after, limit } = query;
    const found = await store.events.after(organizationId, after, limit + 1);
    const events = found.slice(0, limit);
    return {
      results: events.map((event) => ({
        cursor: event.position,
        event_id: eventId(organizationId, event.position),
        ...eventPayload(event, workflowLink),
      })),
      next_cursor: events.at(-1)?.position ?? after,
      has_more: found.length > limit,
    };
  },
});
