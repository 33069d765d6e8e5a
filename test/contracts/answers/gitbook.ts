/**
 * Answers of GitBook, from its OpenAPI document: the fields that are always present, and those that a connector may
 * read.
 */
import {
  anyObject,
  each,
  flag,
  listOf,
  timestamp,
  number,
  object,
  objectBy,
  oneOf,
  type Shape,
  text,
} from './shape.js';
import type { AnswerTable } from './table.js';

const urls = object(each(text, 'location', 'app', 'published', 'public', 'icon', 'logo'), ['location']);
const level = oneOf('admin', 'create', 'edit', 'review', 'comment', 'read', 'inherit');
const space = object(
  {
    ...{ object: oneOf('space'), ...each(text, 'id', 'title', 'emoji', 'organization', 'parent', 'revision') },
    visibility: oneOf('public', 'unlisted', 'share-link', 'visitor-auth', 'in-collection', 'private'),
    ...each(timestamp, 'createdAt', 'updatedAt', 'deletedAt'),
    ...{ editMode: oneOf('live', 'locked'), type: oneOf('styleguide'), language: text, urls, defaultLevel: level },
    ...each(anyObject, 'mergeRules', 'gitSync', 'visitorAuth', 'permissions'),
    imports: listOf(anyObject),
    ...each(number, 'comments', 'changeRequests', 'changeRequestsOpen', 'changeRequestsDraft'),
  },
  [
    ...['object', 'id', 'title', 'emoji', 'visibility', 'createdAt', 'updatedAt', 'mergeRules', 'urls', 'organization'],
    ...['revision', 'defaultLevel', 'comments', 'changeRequests', 'changeRequestsOpen', 'changeRequestsDraft'],
    'permissions',
  ],
);
const organization = object(
  {
    ...{ object: oneOf('organization'), ...each(text, 'id', 'title', 'hostname', 'plan', 'useCase', 'customHostname') },
    ...{ createdAt: timestamp, emailDomains: listOf(text), type: oneOf('business', 'community'), urls },
    ...each(flag, 'sso', 'ai', 'inviteLinks', 'auditLogs'),
    ...each(anyObject, 'billing', 'mergeRules', 'trial', 'blocked', 'permissions', 'defaultContent'),
  },
  [
    ...['object', 'id', 'title', 'createdAt', 'emailDomains', 'type', 'inviteLinks', 'plan', 'mergeRules', 'urls'],
    ...['trial', 'permissions'],
  ],
);

const base = {
  ...each(text, 'id', 'title', 'linkTitle', 'emoji', 'icon', 'condition'),
  ...each(timestamp, 'createdAt', 'updatedAt'),
};
/** The subpages of a page; `items` is set below, because the shape refers to itself. */
const subpages: { type: 'array'; items?: Shape } = { type: 'array' };
const visibility = each(flag, 'hidden', 'noIndex', 'noRobotsIndex');
const document = object(
  {
    ...{ kind: oneOf('sheet'), ...each(text, 'slug', 'path', 'description', 'documentId', 'computedSeed', 'markdown') },
    ...{ urls: object({ app: text }, ['app']), pages: subpages, ...visibility, tags: listOf(anyObject) },
    ...each(anyObject, 'git', 'layout', 'cover', 'variables', 'metaLinks', 'computed', 'document'),
  },
  ['kind', 'urls', 'slug', 'path', 'pages', 'layout', 'tags'],
);
const group = object({ kind: oneOf('group'), ...each(text, 'slug', 'path'), ...visibility, pages: subpages }, [
  ...['kind', 'slug', 'path', 'pages'],
]);
const link = object({ kind: oneOf('link'), target: anyObject, href: text, hidden: flag }, ['kind', 'target']);
const computed = object({ computed: anyObject }, ['computed']);
const page = objectBy('type', { document, group, link, computed }, base, ['id', 'title']);
subpages.items = page;

export const gitbook: AnswerTable = {
  name: 'gitbook',
  specification: 'https://www.npmjs.com/package/@gitbook/api',
  version: '0.202.0',
  takenOn: '2026-11-27',
  refusal: object({ error: object({ code: number, message: text }, ['code', 'message']) }, ['error']),
  operations: {
    'GET /user': object({ object: oneOf('user'), ...each(text, 'id', 'displayName', 'email', 'photoURL'), urls }, [
      'object',
      'id',
      'displayName',
      'urls',
    ]),
    'GET /orgs/{organizationId}': organization,
    'GET /orgs/{organizationId}/spaces': object(
      { items: listOf(space), next: object({ page: text }, ['page']), count: number },
      ['items'],
    ),
    'GET /spaces/{spaceId}': space,
    'GET /spaces/{spaceId}/content/pages': object({ pages: listOf(page) }, ['pages']),
    'GET /spaces/{spaceId}/content/page/{pageId}': page,
  },
};
