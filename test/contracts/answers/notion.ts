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

const maybe = orNull(text);
const empty = object({});
const maybeFlag = orNull(flag);

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
const whole = (fields: Readonly<Record<string, Shape>>): Shape => object(fields, Object.keys(fields));

const HUES = ['gray', 'brown', 'orange', 'yellow', 'green', 'blue', 'purple', 'pink', 'red'];
const hue = oneOf('default', ...HUES);
const color = oneOf('default', ...HUES, ...['default', ...HUES].map((name) => `${name}_background`));
const date = whole({ start: text, end: maybe, time_zone: maybe });
const file = whole({ url: text, expiry_time: text });
const link = whole({ url: text });

const partialUser = whole({ id: text, object: oneOf('user') });
const person = object({ email: text });
const userFields = { id: text, object: oneOf('user'), name: maybe, avatar_url: maybe };
const bot = object(
  {
    owner: typed({ user: typed({ person }, userFields), workspace: flag }),
    workspace_id: text,
    workspace_limits: whole({ max_file_upload_size_in_bytes: integer }),
    workspace_name: maybe,
  },
  ['owner', 'workspace_id', 'workspace_name'],
);
const user = typed({ person, bot }, userFields);
/** A user, with the type if the app may read users. */
const anyUser = object({ ...userFields, type: oneOf('person', 'bot'), person, bot }, ['id', 'object']);

const emoji = whole({ id: text, name: text, url: text });
const icon = orNull(
  typed({ emoji: text, file, external: link, custom_emoji: emoji, icon: object({ name: text, color: text }) }),
);
const cover = orNull(typed({ file, external: link }));
const reference = whole({ id: text });
const richText = listOf(
  typed(
    {
      text: whole({ content: text, link: orNull(link) }),
      mention: typed({
        ...{ user: anyUser, date, link_preview: link, page: reference, database: reference, custom_emoji: emoji },
        link_mention: { ...link, others: text },
        template_mention: typed({ template_mention_date: text, template_mention_user: text }),
      }),
      equation: whole({ expression: text }),
    },
    {
      plain_text: text,
      href: maybe,
      annotations: whole({ ...each(flag, 'bold', 'italic', 'strikethrough', 'underline', 'code'), color }),
    },
  ),
);

/** Returns the shape of a parent of one of the given types. */
const parentOf = (...types: readonly string[]): Shape =>
  objectBy('type', Object.fromEntries(types.map((type) => [type, PARENTS[type]!])));
const PARENTS: Readonly<Record<string, Shape>> = {
  workspace: whole({ workspace: flag }),
  data_source_id: whole({ data_source_id: text, database_id: text }),
  ...Object.fromEntries(
    ['page_id', 'block_id', 'database_id', 'agent_id'].map((name) => [name, whole({ [name]: text })]),
  ),
};
const placed = parentOf('workspace', 'data_source_id', 'database_id', 'page_id', 'block_id', 'agent_id');
const aboveDatabase = parentOf('workspace', 'page_id', 'database_id', 'block_id');

const option = whole({ id: text, name: text, color: hue });
const named = whole({ name: text });
const files = listOf(
  objectBy('type', { file: whole({ file }), external: whole({ external: link }) }, named.fields, ['name']),
);
const maybeDate = orNull(date);
/** Values of columns: https://developers.notion.com/reference/page-property-values */
const single: Readonly<Record<string, Shape>> = {
  number: orNull(number),
  ...each(maybe, 'url', 'email', 'phone_number'),
  ...each(orNull(option), 'select', 'status'),
  ...each(timestamp, 'created_time', 'last_edited_time'),
  ...each(anyUser, 'created_by', 'last_edited_by'),
  ...{ multi_select: listOf(option), date: maybeDate, checkbox: flag, files, button: empty },
  formula: typed({ boolean: maybeFlag, date: maybeDate, number: orNull(number), string: maybe, unsupported: empty }),
  unique_id: whole({ prefix: maybe, number: orNull(integer) }),
  verification: orNull(
    whole({ state: oneOf('unverified', 'verified', 'expired'), date: maybeDate, verified_by: orNull(anyUser) }),
  ),
  place: orNull(
    object({ ...each(number, 'lat', 'lon'), ...each(maybe, 'name', 'address', 'aws_place_id', 'google_place_id') }, [
      ...['lat', 'lon'],
    ]),
  ),
};
const member = objectBy('object', { user: anyUser, group: whole({ name: maybe }) }, { id: text }, ['id']);
const listed = { title: richText, rich_text: richText, people: listOf(member), relation: listOf(reference) };
const value = typed({ ...single, ...listed });
const rollup = typed(
  { number: orNull(number), date: maybeDate, array: listOf(value), unsupported: empty },
  { function: text },
);
const column = typed({ ...single, ...listed, rollup }, { id: text });
const item = typed(
  {
    ...single,
    ...Object.fromEntries(Object.entries(listed).map(([name, list]) => [name, list.items!])),
  },
  { object: oneOf('property_item'), id: text },
);

const dated = each(timestamp, 'created_time', 'last_edited_time');
const inTrash = each(flag, 'in_trash', 'archived');
const shown = { icon, cover, url: text, public_url: maybe };
const authored = each(partialUser, 'created_by', 'last_edited_by');
const pageFields = { object: oneOf('page'), id: text, ...dated, ...authored, ...inTrash, ...shown, parent: placed };
const page = object(
  { ...pageFields, properties: { type: 'object', others: column }, ...each(flag, 'is_archived', 'is_locked') },
  [...Object.keys(pageFields), 'properties'],
);
const texts = each(richText, 'title', 'description');
const source = whole({
  ...{ object: oneOf('data_source'), id: text, ...texts, ...dated, ...authored, ...inTrash, ...shown },
  ...{ parent: parentOf('database_id', 'data_source_id'), database_parent: aboveDatabase, is_inline: flag },
  // The settings of each type of column, which no connector reads.
  properties: {
    type: 'object',
    others: { ...object({ id: text, name: text, description: maybe, type: text }), others: empty },
  },
});
const database = object(
  {
    ...{ object: oneOf('database'), id: text, ...texts, ...dated, ...inTrash, ...shown, parent: aboveDatabase },
    ...each(flag, 'is_inline', 'is_locked'),
    data_sources: listOf(whole({ id: text, name: text })),
  },
  ['object', 'id', 'title', 'parent', 'in_trash', 'created_time', 'last_edited_time', 'data_sources', 'url'],
);

const colored = whole({ rich_text: richText, color });
const colorful = whole({ rich_text: richText, color, icon });
const heading = whole({ rich_text: richText, color, is_toggleable: flag });
const media = typed({ file, external: link }, { caption: richText });
const namedMedia = typed({ file, external: link }, { caption: richText, name: text });
const captioned = whole({ url: text, caption: richText });
const notes = object({ title: richText, status: text, ...each(anyObject, 'children', 'calendar_event', 'recording') });
/** Bodies of blocks: https://developers.notion.com/reference/block */
const block = typed(
  {
    ...each(heading, 'heading_1', 'heading_2', 'heading_3', 'heading_4'),
    ...each(colored, 'bulleted_list_item', 'quote', 'toggle'),
    ...{ paragraph: colorful, callout: colorful, template: whole({ rich_text: richText }) },
    numbered_list_item: object({ ...colored.fields, list_start_index: integer, list_format: text }, [
      'rich_text',
      'color',
    ]),
    to_do: whole({ rich_text: richText, color, checked: flag }),
    code: whole({ rich_text: richText, caption: richText, language: text }),
    equation: whole({ expression: text }),
    synced_block: whole({ synced_from: orNull(whole({ type: oneOf('block_id'), block_id: text })) }),
    ...each(whole({ title: text }), 'child_page', 'child_database'),
    ...each(empty, 'divider', 'breadcrumb', 'tab', 'column_list'),
    ...{ column: object({ width_ratio: number }), table_of_contents: whole({ color }) },
    link_to_page: typed(each(text, 'page_id', 'database_id', 'comment_id')),
    table: whole({ ...each(flag, 'has_column_header', 'has_row_header'), table_width: integer }),
    table_row: whole({ cells: listOf(richText) }),
    ...{ meeting_notes: notes, transcription: notes },
    ...each(captioned, 'embed', 'bookmark'),
    ...{ link_preview: link, unsupported: whole({ block_type: text }) },
    ...each(media, 'image', 'video', 'audio'),
    ...each(namedMedia, 'file', 'pdf'),
    // The types do not name it: https://github.com/onyx-dot-app/onyx/commit/01bd1a84c4.
    ai_block: empty,
  },
  { object: oneOf('block'), id: text, parent: placed, ...dated, ...authored, ...inTrash, has_children: flag },
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
      ...{ results: listOf(items), next_cursor: maybe, has_more: flag, request_status: status },
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
      typed({ ...each(empty, 'title', 'rich_text', 'people', 'relation'), rollup }, { next_url: maybe, id: text }),
    ),
    'GET /data_sources/{data_source_id}': source,
    'POST /data_sources/{data_source_id}/query': pagesAndSources,
    'GET /databases/{database_id}': database,
  },
};
