/**
 * Answers of Notion, from the types of its own client. Objects are complete: only apps without read access get partial
 * ones.
 */
import {
  anyObject,
  each,
  flag,
  integer,
  listOf,
  timestamp,
  number,
  object,
  objectBy,
  oneOf,
  orNull,
  type Shape,
  text,
} from './shape.js';
import type { AnswerTable } from './table.js';

const nullableText = orNull(text);
const empty = object({});
const nullableFlag = orNull(flag);

/** Returns the shape of an object whose type is also the name of the field with its body. */
const typed = (
  bodies: Readonly<Record<string, Shape>>,
  common: Readonly<Record<string, Shape>> = {},
  required: readonly string[] = Object.keys(common),
): Shape =>
  objectBy(
    'type',
    Object.fromEntries(Object.entries(bodies).map(([type, body]) => [type, object({ [type]: body }, [type])])),
    common,
    required,
  );
/** Returns the shape of an object that has all its fields. */
const objectOf = (fields: Readonly<Record<string, Shape>>): Shape => object(fields, Object.keys(fields));

const HUES = ['gray', 'brown', 'orange', 'yellow', 'green', 'blue', 'purple', 'pink', 'red'];
const hue = oneOf('default', ...HUES);
const color = oneOf('default', ...HUES, ...['default', ...HUES].map((name) => `${name}_background`));
const date = objectOf({ start: text, end: nullableText, time_zone: nullableText });
const file = objectOf({ url: text, expiry_time: text });
const link = objectOf({ url: text });

const partialUser = objectOf({ id: text, object: oneOf('user') });
const person = object({ email: text });
const userFields = { id: text, object: oneOf('user'), name: nullableText, avatar_url: nullableText };
const bot = object(
  {
    owner: typed({ user: typed({ person }, userFields), workspace: flag }),
    workspace_id: text,
    workspace_limits: objectOf({ max_file_upload_size_in_bytes: integer }),
    workspace_name: nullableText,
  },
  ['owner', 'workspace_id', 'workspace_name'],
);
const user = typed({ person, bot }, userFields);
/** A user, with the type if the app may read users. */
const anyUser = object({ ...userFields, type: oneOf('person', 'bot'), person, bot }, ['id', 'object']);

const emoji = objectOf({ id: text, name: text, url: text });
const icon = orNull(
  typed({ emoji: text, file, external: link, custom_emoji: emoji, icon: object({ name: text, color: text }) }),
);
const cover = orNull(typed({ file, external: link }));
const reference = objectOf({ id: text });
const richText = listOf(
  typed(
    {
      text: objectOf({ content: text, link: orNull(link) }),
      mention: typed({
        ...{ user: anyUser, date, link_preview: link, page: reference, database: reference, custom_emoji: emoji },
        link_mention: { ...link, others: text },
        template_mention: typed({ template_mention_date: text, template_mention_user: text }),
      }),
      equation: objectOf({ expression: text }),
    },
    {
      plain_text: text,
      href: nullableText,
      annotations: objectOf({ ...each(flag, 'bold', 'italic', 'strikethrough', 'underline', 'code'), color }),
    },
  ),
);

/** Returns the shape of a parent of one of the given types. */
const parentOf = (...types: readonly string[]): Shape =>
  objectBy('type', Object.fromEntries(types.map((type) => [type, PARENTS[type]!])));
const PARENTS: Readonly<Record<string, Shape>> = {
  workspace: objectOf({ workspace: flag }),
  data_source_id: objectOf({ data_source_id: text, database_id: text }),
  ...Object.fromEntries(
    ['page_id', 'block_id', 'database_id', 'agent_id'].map((name) => [name, objectOf({ [name]: text })]),
  ),
};
const pageParent = parentOf('workspace', 'data_source_id', 'database_id', 'page_id', 'block_id', 'agent_id');
const databaseParent = parentOf('workspace', 'page_id', 'database_id', 'block_id');

const option = objectOf({ id: text, name: text, color: hue });
const objectWithName = objectOf({ name: text });
const files = listOf(
  objectBy('type', { file: objectOf({ file }), external: objectOf({ external: link }) }, objectWithName.fields, [
    'name',
  ]),
);
const nullableDate = orNull(date);
/** Values of columns: https://developers.notion.com/reference/page-property-values */
const singleValues: Readonly<Record<string, Shape>> = {
  number: orNull(number),
  ...each(nullableText, 'url', 'email', 'phone_number'),
  ...each(orNull(option), 'select', 'status'),
  ...each(timestamp, 'created_time', 'last_edited_time'),
  ...each(anyUser, 'created_by', 'last_edited_by'),
  ...{ multi_select: listOf(option), date: nullableDate, checkbox: flag, files, button: empty },
  formula: typed({
    boolean: nullableFlag,
    date: nullableDate,
    number: orNull(number),
    string: nullableText,
    unsupported: empty,
  }),
  unique_id: objectOf({ prefix: nullableText, number: orNull(integer) }),
  verification: orNull(
    objectOf({ state: oneOf('unverified', 'verified', 'expired'), date: nullableDate, verified_by: orNull(anyUser) }),
  ),
  place: orNull(
    object(
      { ...each(number, 'lat', 'lon'), ...each(nullableText, 'name', 'address', 'aws_place_id', 'google_place_id') },
      [...['lat', 'lon']],
    ),
  ),
};
const member = objectBy('object', { user: anyUser, group: objectOf({ name: nullableText }) }, { id: text }, ['id']);
const listValues = { title: richText, rich_text: richText, people: listOf(member), relation: listOf(reference) };
const value = typed({ ...singleValues, ...listValues });
const rollup = typed(
  { number: orNull(number), date: nullableDate, array: listOf(value), unsupported: empty },
  { function: text },
);
const column = typed({ ...singleValues, ...listValues, rollup }, { id: text });
const item = typed(
  {
    ...singleValues,
    ...Object.fromEntries(Object.entries(listValues).map(([name, list]) => [name, list.items!])),
  },
  { object: oneOf('property_item'), id: text },
);

const timeFields = each(timestamp, 'created_time', 'last_edited_time');
const inTrash = each(flag, 'in_trash', 'archived');
const displayFields = { icon, cover, url: text, public_url: nullableText };
const authorFields = each(partialUser, 'created_by', 'last_edited_by');
const pageFields = {
  object: oneOf('page'),
  id: text,
  ...timeFields,
  ...authorFields,
  ...inTrash,
  ...displayFields,
  parent: pageParent,
};
const page = object(
  { ...pageFields, properties: { type: 'object', others: column }, ...each(flag, 'is_archived', 'is_locked') },
  [...Object.keys(pageFields), 'properties'],
);
const texts = each(richText, 'title', 'description');
const source = objectOf({
  ...{ object: oneOf('data_source'), id: text, ...texts, ...timeFields, ...authorFields, ...inTrash, ...displayFields },
  ...{ parent: parentOf('database_id', 'data_source_id'), database_parent: databaseParent, is_inline: flag },
  // The settings of each type of column, which no connector reads.
  properties: {
    type: 'object',
    others: { ...object({ id: text, name: text, description: nullableText, type: text }), others: empty },
  },
});
const database = object(
  {
    ...{
      object: oneOf('database'),
      id: text,
      ...texts,
      ...timeFields,
      ...inTrash,
      ...displayFields,
      parent: databaseParent,
    },
    ...each(flag, 'is_inline', 'is_locked'),
    data_sources: listOf(objectOf({ id: text, name: text })),
  },
  ['object', 'id', 'title', 'parent', 'in_trash', 'created_time', 'last_edited_time', 'data_sources', 'url'],
);

const colored = objectOf({ rich_text: richText, color });
const colorful = objectOf({ rich_text: richText, color, icon });
const heading = objectOf({ rich_text: richText, color, is_toggleable: flag });
const media = typed({ file, external: link }, { caption: richText });
const namedMedia = typed({ file, external: link }, { caption: richText, name: text });
const captioned = objectOf({ url: text, caption: richText });
const notes = object({ title: richText, status: text, ...each(anyObject, 'children', 'calendar_event', 'recording') });
/** Bodies of blocks: https://developers.notion.com/reference/block */
const block = typed(
  {
    ...each(heading, 'heading_1', 'heading_2', 'heading_3', 'heading_4'),
    ...each(colored, 'bulleted_list_item', 'quote', 'toggle'),
    ...{ paragraph: colorful, callout: colorful, template: objectOf({ rich_text: richText }) },
    numbered_list_item: object({ ...colored.fields, list_start_index: integer, list_format: text }, [
      'rich_text',
      'color',
    ]),
    to_do: objectOf({ rich_text: richText, color, checked: flag }),
    code: objectOf({ rich_text: richText, caption: richText, language: text }),
    equation: objectOf({ expression: text }),
    synced_block: objectOf({ synced_from: orNull(objectOf({ type: oneOf('block_id'), block_id: text })) }),
    ...each(objectOf({ title: text }), 'child_page', 'child_database'),
    ...each(empty, 'divider', 'breadcrumb', 'tab', 'column_list'),
    ...{ column: object({ width_ratio: number }), table_of_contents: objectOf({ color }) },
    link_to_page: typed(each(text, 'page_id', 'database_id', 'comment_id')),
    table: objectOf({ ...each(flag, 'has_column_header', 'has_row_header'), table_width: integer }),
    table_row: objectOf({ cells: listOf(richText) }),
    ...{ meeting_notes: notes, transcription: notes },
    ...each(captioned, 'embed', 'bookmark'),
    ...{ link_preview: link, unsupported: objectOf({ block_type: text }) },
    ...each(media, 'image', 'video', 'audio'),
    ...each(namedMedia, 'file', 'pdf'),
    // The types do not name it: https://github.com/onyx-dot-app/onyx/commit/01bd1a84c4.
    ai_block: empty,
  },
  {
    object: oneOf('block'),
    id: text,
    parent: pageParent,
    ...timeFields,
    ...authorFields,
    ...inTrash,
    has_children: flag,
  },
);

const status = object(
  { type: oneOf('complete', 'incomplete'), incomplete_reason: oneOf('query_result_limit_reached') },
  ['type'],
);
/** A page of a list: https://developers.notion.com/reference/intro#pagination */
const pageOf = (type: string, items: Shape, about = empty): Shape =>
  object(
    {
      ...{ object: oneOf('list'), type: oneOf(type), [type]: about },
      ...{ results: listOf(items), next_cursor: nullableText, has_more: flag, request_status: status },
    },
    ['object', 'type', 'results', 'next_cursor', 'has_more'],
  );
const pagesAndSources = pageOf('page_or_data_source', objectBy('object', { page, data_source: source }));

export const notion: AnswerTable = {
  name: 'notion',
  specification: 'https://github.com/makenotion/notion-sdk-js/tree/main/src/api-endpoints',
  version: '@notionhq/client 5.26.0',
  takenOn: '2026-11-27',
  refusal: object(
    {
      object: oneOf('error'),
      status: integer,
      code: oneOf(
        ...['unauthorized', 'restricted_resource', 'object_not_found', 'rate_limited', 'invalid_json'],
        ...['invalid_request_url', 'invalid_request', 'invalid_beta', 'validation_error', 'conflict_error'],
        ...['internal_server_error', 'service_overload', 'service_unavailable', 'gateway_timeout', 'missing_version'],
      ),
      ...each(text, 'message', 'request_id'),
      additional_data: anyObject,
    },
    ['object', 'status', 'code', 'message'],
  ),
  operations: {
    'GET /users/me': user,
    'POST /search': pagesAndSources,
    'GET /blocks/{block_id}': block,
    'GET /blocks/{block_id}/children': pageOf('block', block),
    'GET /pages/{page_id}': page,
    'GET /pages/{page_id}/properties/{property_id}': pageOf(
      'property_item',
      item,
      typed(
        { ...each(empty, 'title', 'rich_text', 'people', 'relation'), rollup },
        { next_url: nullableText, id: text },
      ),
    ),
    'GET /data_sources/{data_source_id}': source,
    'POST /data_sources/{data_source_id}/query': pagesAndSources,
    'GET /databases/{database_id}': database,
  },
};
