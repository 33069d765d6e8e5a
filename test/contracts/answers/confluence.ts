/**
 * Answers of Confluence Cloud, from its OpenAPI document, which marks no field as required. Required here are the
 * fields that identify an object or lead to the next page. By the descriptions, the parent is null at the top of a
 * space.
 */
import { anyObject, each, flag, integer, listOf, timestamp, object, oneOf, orNull, type Shape, text } from './shape.js';
import type { AnswerTable } from './table.js';

const nullableText = orNull(text);
const links = object(each(text, 'webui', 'editui', 'tinyui', 'base', 'next'));
const version = object(
  { createdAt: timestamp, number: integer, minorEdit: flag, ...each(text, 'message', 'authorId') },
  ['number', 'createdAt'],
);
const content = object(each(text, 'representation', 'value'), ['representation', 'value']);
const body = object(each(content, 'storage', 'atlas_doc_format', 'view'));
const statuses = ['current', 'draft', 'historical', 'trashed', 'deleted', 'any'];
const requiredFields = ['id', 'status', 'title', 'createdAt', 'version'];
const common = { ...each(text, 'id', 'title', 'authorId'), createdAt: timestamp, version, _links: links };
const parent = {
  parentId: nullableText,
  parentType: orNull(oneOf('page', 'whiteboard', 'database', 'embed', 'folder')),
  position: orNull(integer),
};
const authorFields = {
  ...each(anyObject, 'labels', 'properties', 'operations', 'likes', 'versions'),
  isFavoritedByCurrentUser: flag,
};
const page = object(
  {
    ...{ ...common, ...parent, ...authorFields, spaceId: text, status: oneOf('archived', ...statuses), body },
    ...each(nullableText, 'ownerId', 'lastOwnerId'),
  },
  [...requiredFields, 'spaceId', 'parentId', 'parentType'],
);
const blogPost = object({ ...common, ...authorFields, spaceId: text, status: oneOf(...statuses), body }, [
  ...requiredFields,
  'spaceId',
]);
/** A folder has no spaceId. */
const folder = object(
  { ...common, ...parent, type: oneOf('folder'), status: oneOf('archived', ...statuses), ownerId: text },
  [...requiredFields, 'type', 'parentId', 'parentType'],
);
const space = object(
  {
    ...each(text, 'id', 'key', 'name', 'authorId', 'homepageId'),
    type: oneOf('global', 'collaboration', 'knowledge_base', 'personal'),
    ...{ status: oneOf('current', 'archived'), createdAt: timestamp, _links: links },
    ...each(orNull(anyObject), 'description', 'icon'),
    ...each(anyObject, 'labels', 'properties', 'operations', 'permissions'),
  },
  ['id', 'key', 'name', 'type', 'status'],
);
const pageOf = (items: Shape): Shape => object({ results: listOf(items), _links: links }, ['results', '_links']);
/** https://developer.atlassian.com/cloud/confluence/rest/v2/api-group-children/ */
const children = pageOf(
  object(
    {
      ...{ ...each(text, 'id', 'title', 'spaceId'), status: oneOf('archived', ...statuses), childPosition: integer },
      type: oneOf('page', 'whiteboard', 'database', 'embed', 'folder'),
    },
    ['id', 'status', 'title', 'type', 'spaceId'],
  ),
);

const API = '/ex/confluence/{cloudId}/wiki/api/v2';
export const confluence: AnswerTable = {
  name: 'confluence',
  specification:
    'https://dac-static.atlassian.com/cloud/confluence/openapi-v2.v3.json (copy in Pygmalion-Records/confluence-local-sync)',
  version: '2.0.0, copied 2025-01-27',
  takenOn: '2026-11-27',
  // The API lists errors; the gateway for apps answers with one code and message.
  refusal: object({
    errors: listOf(
      object({ status: integer, ...each(text, 'code', 'title'), detail: nullableText }, ['status', 'code', 'title']),
    ),
    code: integer,
    message: text,
  }),
  operations: {
    // https://developer.atlassian.com/cloud/confluence/oauth-2-3lo-apps/
    'GET /me': object(
      {
        ...each(text, 'account_type', 'account_id', 'email', 'name', 'picture', 'account_status', 'nickname'),
        ...each(text, 'zoneinfo', 'locale'),
        ...{ extended_profile: anyObject, email_verified: flag },
      },
      ['account_id', 'email', 'name'],
    ),
    'GET /oauth/token/accessible-resources': listOf(
      object({ ...each(text, 'id', 'name', 'url', 'avatarUrl'), scopes: listOf(text) }, [
        'id',
        'name',
        'url',
        'scopes',
      ]),
    ),
    [`GET ${API}/folders/{id}/direct-children`]: children,
    [`GET ${API}/pages/{id}/direct-children`]: children,
    [`GET ${API}/blogposts/{id}`]: blogPost,
    [`GET ${API}/folders/{id}`]: folder,
    [`GET ${API}/pages`]: pageOf(page),
    [`GET ${API}/pages/{id}`]: page,
    [`GET ${API}/spaces`]: pageOf(space),
    [`GET ${API}/spaces/{id}`]: space,
    [`GET ${API}/spaces/{id}/blogposts`]: pageOf(blogPost),
    [`GET ${API}/spaces/{id}/pages`]: pageOf(page),
  },
};
