import Joi from 'joi';

import { eventId, eventPayload } from '../../contract/events.js';
import { invalid } from '../http/errors.js';
import { EventsAnswer, operation } from '../http/operation.js';
import type { ApiDeps } from '../http/deps.js';
import { callerName, lastEventIdQuery } from './lastEventId.js';
import { createPageCache } from './pages.js';
import { message } from '../http/streams/streams.js';

const DESCRIPTION = `Streams the events of the organization as [Server-Sent Events](https://html.spec.whatwg.org/multipage/server-sent-events.html), in the order of their \`cursor\`. With an API key alone the stream has all events of the organization; with an access token, or an API key and \`customer-id\`, only those of that end user. Use it to follow changes live without a public address for a webhook.

Each message has the same \`data\` as a result of \`GET /events\`, and its \`cursor\` as its \`id\`. Without \`Last-Event-ID\` the stream begins with the next event. With it, the stream first sends the events after that event, so a client that reconnects receives each event exactly once. \`Last-Event-ID: 0\` begins with the oldest stored event; events are stored for \`EVENTS_KEPT_DAYS\` (7).

The first message has the type \`connected\` and contains the cursor from which the stream continues. A comment is sent after 15 s without an event. The stream ends after \`EVENT_STREAM_LIFETIME_S\` (900 s) and when the server stops; a client that does not read for 30 s is disconnected. Reconnect with the last id; browsers do so automatically. At most \`EVENT_STREAMS_PER_USER\` (20) streams of a caller are open in one API process.`;

const pages = createPageCache();

/**
 * Returns the position after which a stream continues: that of the client, at most the last one of the organization.
 */
function positionOf(given: string, head: number): number {
  if (given === '') return head;
  const position = Number(given);
  if (!/^\d{1,16}$/.test(given) || !Number.isSafeInteger(position))
    throw invalid(['header', 'last-event-id'], 'Send the id of an event of this stream', 'value_error');
  // After a restore of the database, the position may be above the head. Using it would skip the next events.
  return Math.min(position, head);
}

/** GET /events/stream: streams the events of an organization or of one of its users. */
export const streamEvents = operation({
  method: 'get',
  path: '/events/stream',
  operationId: 'stream_events',
  tag: 'Events',
  auth: 'either',
  summary: 'Stream events as Server-Sent Events',
  description: [DESCRIPTION],
  returns: 'A stream of events. `data` of each message is a `FeedEvent` as JSON.',
  answersEvents: 'id: 17\ndata: {"cursor":17,"event_id":"evt_1_17","webhook_type":"FILE_READY",…}\n\n',
  errors: { 404: null },
  query: lastEventIdQuery,
  answer: Joi.string(),
  async handle({ caller, query, lastEventId, signal, deps }) {
    const given = lastEventId ?? query.last_event_id ?? '';
    positionOf(given, 0);
    const { organizationId } = caller;
    const { store, eventStreams } = deps;
    const read = (): Promise<number> => store.events.head(organizationId);
    const open = await eventStreams.open(
      eventStreams.heads,
      { caller: callerName(caller), topic: String(organizationId), read },
      (head) => ({
        cursor: String(positionOf(given, head)),
        next: (upTo, cursor) => page(caller, Number(cursor), upTo, deps),
      }),
      signal,
    );
    return new EventsAnswer(open);
  },
});

type Scope = Parameters<ApiDeps['store']['events']['page']>[0];

async function page(scope: Scope, after: number, upTo: number, { store, workflowLink }: ApiDeps) {
  if (after >= upTo) return { text: '', cursor: String(after), hasMore: false, isLast: false };
  const { organizationId } = scope;
  // All streams of one caller that continue from the same position share one read.
  const found = await pages.of([callerName(scope), after, upTo].join(' '), async () => {
    const { events, next } = await store.events.page(scope, after, upTo);
    const texts = events.map((event) => {
      const { position: cursor } = event;
      const data = { cursor, event_id: eventId(organizationId, cursor), ...eventPayload(event, workflowLink) };
      return message(String(cursor), null, JSON.stringify(data));
    });
    return { text: texts.join(''), next };
  });
  return { text: found.text, cursor: String(found.next), hasMore: found.next < upTo, isLast: false };
}
