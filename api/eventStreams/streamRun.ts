import { createHash } from 'node:crypto';
import Joi from 'joi';

import type { RunScope } from '../../store/runs/list.js';
import type { ApiDeps } from '../http/deps.js';
import { EventsAnswer, operation } from '../http/operation.js';
import { presentRun } from '../presenters/syncRun.js';
import { syncRunOf } from '../syncRuns/syncRunOf.js';
import { callerName, lastEventIdQuery } from './lastEventId.js';
import { message, type Messages, type RunState } from '../http/streams/streams.js';

const DESCRIPTION = `Streams the progress of one run as [Server-Sent Events](https://html.spec.whatwg.org/multipage/server-sent-events.html), until it ends. Use it to show progress to a person, or to wait for the end of a run without polling.

Each message of type \`progress\` is a snapshot: its \`data\` is the record that \`GET /sync_runs/{sync_run_id}\` returns. A snapshot is sent when the stream opens and after each change, at most one per \`EVENT_STREAM_TICK_MS\` (1 s). The last message has the type \`end\` and the final record, or \`null\` if the run was deleted with its user. Then the stream ends: close the client on \`end\`. A browser that reconnects anyway receives 204, which stops it.

The \`id\` of a message is a fingerprint of its snapshot. With \`Last-Event-ID\`, a snapshot that the client has is not sent again; a changed one is sent immediately, and since snapshots are complete, nothing is missed. \`GET /sync_runs/{sync_run_id}/items\` returns the outcome of each item. Heartbeats, lifetime and limits are those of \`GET /events/stream\`.`;

const ID_CHARACTERS = 22;
const ID = new RegExp(`^[\\w-]{${ID_CHARACTERS}}$`);

async function stateOf(scope: RunScope, runId: number, deps: ApiDeps): Promise<RunState | null> {
  const run = await deps.store.runs.findInScope(scope, runId);
  if (!run) return null;
  const tallies = await deps.store.ledger.tallies([run]);
  const json = JSON.stringify(presentRun(run, tallies.get(runId), deps));
  const id = createHash('sha256').update(json).digest('base64url').slice(0, ID_CHARACTERS);
  return { id, json, hasEnded: run.finishedAt !== null };
}

/** Returns the snapshot, or no message if the client has it. The last snapshot of a run is always returned. */
function snapshot(state: RunState | null, cursor: string): Messages {
  if (state === null) return { text: 'event: end\ndata: null\n\n', cursor, hasMore: false, isLast: true };
  const { id, json, hasEnded } = state;
  const isNew = id !== cursor || hasEnded;
  const text = isNew ? message(id, hasEnded ? 'end' : 'progress', json) : '';
  return { text, cursor: id, hasMore: false, isLast: hasEnded };
}

/** GET /sync_runs/{sync_run_id}/events: streams the progress of a run. */
export const streamRun = operation({
  method: 'get',
  path: '/sync_runs/{sync_run_id}/events',
  operationId: 'stream_sync_run',
  tag: 'Runs',
  auth: 'either',
  summary: 'Stream the progress of a run as Server-Sent Events',
  description: [DESCRIPTION],
  returns: 'A stream of snapshots. `data` of each message is a `SyncRun` as JSON.',
  answersEvents: 'id: Vw8bH3Jc4mX0aQ2nL5kTzA\nevent: progress\ndata: {"id":12,"status":"running",…}\n\n',
  query: lastEventIdQuery,
  answer: Joi.string(),
  async handle(call) {
    // Check the run before the limit of streams: a run of another user returns 404 like a missing one.
    const { _id: runId, organizationId, userId } = await syncRunOf(call);
    const { caller, query, lastEventId, signal, deps } = call;
    const id = lastEventId ?? query.last_event_id ?? '';
    // The stream repeats this id. Text that is not an id of this stream is ignored, because line breaks in it could add
    // messages.
    const given = ID.test(id) ? id : '';
    const { eventStreams } = deps;
    const read = (): Promise<RunState | null> => stateOf({ organizationId, userId }, runId, deps);
    const open = await eventStreams.open(
      eventStreams.runs,
      { caller: callerName(caller), topic: `${organizationId}:${runId}`, read },
      (state) =>
        state?.hasEnded === true && state.id === given
          ? null
          : { cursor: given, next: (latest, cursor) => Promise.resolve(snapshot(latest, cursor)) },
      signal,
    );
    return new EventsAnswer(open);
  },
});
