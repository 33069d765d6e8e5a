/**
 * Answers of Gong, from its OpenAPI document, which marks no field as required or nullable. Required here are the
 * fields that identify an object; nullable are those that another project received as null:
 * https://github.com/NangoHQ/integration-templates/blob/45da553/integrations/gong/syncs/calls.ts
 */
import { anyObject, each, flag, integer, listOf, timestamp, object, oneOf, orNull, type Shape, text } from './shape.js';
import type { AnswerTable } from './table.js';

const nullableText = orNull(text);
/** A number of up to 20 digits, as a string. */
const id: Shape = { type: 'string', pattern: /^\d{1,20}$/ };
const records = object({ ...each(integer, 'totalRecords', 'currentPageSize', 'currentPageNumber'), cursor: text }, [
  'totalRecords',
  'currentPageSize',
  'currentPageNumber',
]);
const workspace = object({ id, ...each(text, 'name', 'description') }, ['id', 'name']);
const call = object(
  {
    ...{ ...each(id, 'id', 'workspaceId', 'primaryUserId'), ...each(text, 'url', 'title'), duration: integer },
    ...each(timestamp, 'scheduled', 'started'),
    ...{ direction: oneOf('Inbound', 'Outbound', 'Conference', 'Unknown'), media: oneOf('Video', 'Audio') },
    ...{ scope: oneOf('Internal', 'External', 'Unknown'), language: text, system: text, isPrivate: flag },
    ...each(nullableText, 'sdrDisposition', 'clientUniqueId', 'customData', 'purpose', 'meetingUrl', 'calendarEventId'),
  },
  ['id', 'url', 'scheduled', 'started', 'duration', 'direction', 'scope', 'media', 'language', 'workspaceId'],
);
const party = object(
  {
    ...each(text, 'id', 'emailAddress', 'name', 'title', 'speakerId', 'phoneNumber'),
    ...{ userId: id, context: listOf(anyObject), methods: listOf(oneOf('Invitee', 'Attendee')) },
    affiliation: oneOf('Internal', 'External', 'Unknown'),
  },
  ['id'],
);
const callData = object(
  {
    ...{ metaData: call, context: listOf(anyObject), parties: listOf(party) },
    ...each(anyObject, 'content', 'interaction', 'collaboration', 'media'),
  },
  ['metaData'],
);
const sentence = object({ ...each(integer, 'start', 'end'), text }, ['start', 'end', 'text']);
const monologue = object({ speakerId: text, topic: nullableText, sentences: listOf(sentence) }, [
  'speakerId',
  'sentences',
]);
const transcript = object({ callId: id, transcript: listOf(monologue) }, ['callId', 'transcript']);
const changed = { createdBy: id, updated: timestamp };
const folder = object({ id, name: text, parentFolderId: orNull(id), ...changed }, ['id', 'name']);
const libraryCall = object(
  {
    ...{ id, title: text, note: nullableText, addedBy: id, created: timestamp, url: text },
    snippet: orNull(object(each(integer, 'fromSec', 'toSec'))),
  },
  ['id'],
);
const answer = (name: string, items: Shape, fields: Readonly<Record<string, Shape>> = {}): Shape =>
  object({ requestId: text, ...fields, [name]: listOf(items) }, ['requestId', name, ...Object.keys(fields)]);

export const gong: AnswerTable = {
  name: 'gong',
  specification: 'https://github.com/cedricziel/gong-rs/blob/e8be3fd/spec/openapi.json',
  version: 'V2',
  takenOn: '2026-11-27',
  refusal: object({ requestId: text, errors: listOf(text) }, ['requestId', 'errors']),
  operations: {
    'GET /workspaces': answer('workspaces', workspace),
    'GET /calls': answer('calls', call, { records }),
    'POST /calls/extensive': answer('calls', callData, { records }),
    'POST /calls/transcript': answer('callTranscripts', transcript, { records }),
    'GET /library/folders': answer('folders', folder),
    'GET /library/folder-content': object({ requestId: text, id, name: text, ...changed, calls: listOf(libraryCall) }, [
      'requestId',
      'id',
      'name',
      'calls',
    ]),
  },
};
