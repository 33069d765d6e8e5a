import { counts, discovered, long, refusal } from './api.js';
import { anyObject, each, listOf, object, oneOf, type Shape, text } from '../shape.js';
import type { AnswerTable } from '../table.js';

const base64url: Shape = { type: 'string', pattern: /^[\w-]*={0,2}$/ };
const header = object(each(text, 'name', 'value'), ['name', 'value']);
const partFields = {
  ...each(text, 'filename', 'mimeType', 'partId'),
  headers: listOf(header),
  body: object({ attachmentId: text, data: base64url, ...counts('size') }),
};
/** The top-level part of a message. The parts inside it are not compared. */
const payload = object({ ...partFields, parts: listOf(anyObject) }, ['headers', 'mimeType']);

const ids = { id: text, threadId: text };
const common = {
  ...ids,
  labelIds: listOf(text),
  ...each(long, 'historyId', 'internalDate'),
  ...counts('sizeEstimate'),
  snippet: text,
  classificationLabelValues: listOf(anyObject),
};
const requiredFields = ['id', 'threadId', 'historyId', 'internalDate'];
/**
 * A message in a format: `payload` and `raw` are alternatives, and "minimal" has none of them.
 * https://developers.google.com/workspace/gmail/api/reference/rest/v1/Format
 */
function messageIn({ searchParams }: URL): Shape {
  const format = searchParams.get('format') ?? 'full';
  if (format === 'raw') return object({ ...common, raw: base64url }, [...requiredFields, 'raw']);
  return format === 'minimal'
    ? object(common, requiredFields)
    : object({ ...common, payload }, [...requiredFields, 'payload']);
}

const label = object(
  {
    id: text,
    name: text,
    type: oneOf('system', 'user'),
    labelListVisibility: oneOf('labelShow', 'labelShowIfUnread', 'labelHide'),
    messageListVisibility: oneOf('show', 'hide'),
    color: anyObject,
    ...counts('messagesTotal', 'messagesUnread', 'threadsTotal', 'threadsUnread'),
  },
  ['id', 'name', 'type'],
);

/** A message of the history, which has its ids and labels only. */
const messageIds = object({ ...ids, labelIds: listOf(text) }, ['id', 'threadId']);
const messageChanges = listOf(object({ message: messageIds }, ['message']));
const labelChanges = listOf(object({ message: messageIds, labelIds: listOf(text) }, ['message', 'labelIds']));
const record = object(
  {
    id: long,
    messages: listOf(messageIds),
    ...each(messageChanges, 'messagesAdded', 'messagesDeleted'),
    ...each(labelChanges, 'labelsAdded', 'labelsRemoved'),
  },
  ['id', 'messages'],
);

export const gmail: AnswerTable = {
  ...discovered('gmail/v1', '20261005'),
  name: 'gmail',
  refusal,
  operations: {
    'GET /profile': object({ emailAddress: text, historyId: long, ...counts('messagesTotal', 'threadsTotal') }, [
      ...['emailAddress', 'historyId', 'messagesTotal', 'threadsTotal'],
    ]),
    'GET /labels': object({ labels: listOf(label) }, ['labels']),
    'GET /labels/{id}': label,
    // The lists are missing if they are empty.
    'GET /history': object({ history: listOf(record), historyId: long, nextPageToken: text }, ['historyId']),
    'GET /messages': object(
      { messages: listOf(object(ids, ['id', 'threadId'])), nextPageToken: text, ...counts('resultSizeEstimate') },
      ['resultSizeEstimate'],
    ),
    'GET /messages/{id}': messageIn,
    'GET /threads/{id}': (url) =>
      object({ id: text, historyId: long, snippet: text, messages: listOf(messageIn(url)) }, [
        'id',
        'historyId',
        'messages',
      ]),
  },
};
