/**
 * Answers of ServiceNow, from the samples of its documentation: every value is a text, empty if there is none; a
 * reference is an object, unless the request excludes links.
 */
import { each, eitherOf, listOf, object, oneOf, orNull, type Shape, text } from './shape.js';
import type { AnswerTable } from './table.js';

const reference = object(each(text, 'link', 'value'), ['link', 'value']);
const valueAndDisplayValue = object({ display_value: orNull(text), value: text, link: text }, [
  'display_value',
  'value',
]);

/** Returns the shape of a record, whose fields the request and the instance determine. */
const recordOf = ({ searchParams }: URL): Shape => {
  if (searchParams.get('sysparm_display_value') === 'all') return { type: 'object', others: valueAndDisplayValue };
  const isPlain = searchParams.get('sysparm_exclude_reference_link') === 'true';
  return { type: 'object', others: isPlain ? text : eitherOf(text, reference) };
};
const result = (shape: Shape): Shape => object({ result: shape }, ['result']);

const attachmentFields = {
  ...each(text, 'sys_id', 'table_name', 'table_sys_id', 'file_name', 'content_type', 'size_bytes', 'size_compressed'),
  ...each(text, 'download_link', 'compressed', 'image_height', 'image_width', 'average_image_color', 'sys_tags'),
  ...each(text, 'sys_created_on', 'sys_created_by', 'sys_updated_on', 'sys_updated_by', 'sys_mod_count'),
};
// The samples are from before ServiceNow added the hash.
const attachment = object({ ...attachmentFields, ...each(text, 'hash', 'state', 'chunk_size_bytes') }, [
  ...Object.keys(attachmentFields),
]);

export const serviceNow: AnswerTable = {
  name: 'serviceNow',
  specification: 'https://github.com/ServiceNow/ServiceNowDocs',
  version: 'Australia, cb48b5c3',
  takenOn: '2026-11-27',
  refusal: object({ error: object({ message: text, detail: orNull(text) }, ['message']), status: oneOf('failure') }, [
    ...['error', 'status'],
  ]),
  operations: {
    'GET /table/{tableName}': (url) => result(listOf(recordOf(url))),
    'GET /table/{tableName}/{sys_id}': (url) => result(recordOf(url)),
    'GET /attachment': result(listOf(attachment)),
    'GET /attachment/{sys_id}': result(attachment),
  },
};
