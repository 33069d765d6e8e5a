/**
 * Answers of Zotero, from the code of its server (`toResponseJSON` and `toJSON` in model/ of
 * https://github.com/zotero/dataserver). Error responses are plain text.
 */
import {
  anyObject,
  anything,
  each,
  eitherOf,
  always,
  flag,
  integer,
  listOf,
  timestamp,
  object,
  oneOf,
  text,
} from './shape.js';
import type { AnswerTable } from './table.js';

const link = object({ href: text, type: text, title: text, length: integer }, ['href']);
const links = object({ ...each(link, 'self', 'alternate', 'up', 'enclosure'), attachment: anyObject }, [
  ...['self', 'alternate'],
]);
const library = object(
  { type: oneOf('user', 'group'), id: integer, name: text, links: object({ alternate: link }, ['alternate']) },
  ['type', 'id', 'name', 'links'],
);
const stamped = { key: text, version: integer };

const item = object(
  {
    ...{ ...stamped, library, links },
    meta: object({
      ...{ creatorSummary: text, parsedDate: text, numChildren: eitherOf(integer, always(false)) },
      ...each(anyObject, 'createdByUser', 'lastModifiedByUser'),
    }),
    data: {
      ...object(
        {
          ...{ ...stamped, itemType: text, parentItem: text, deleted: integer, collections: listOf(text) },
          linkMode: oneOf('imported_file', 'imported_url', 'linked_file', 'linked_url', 'embedded_image'),
          ...{ tags: listOf(anyObject), relations: anything, creators: listOf(anyObject) },
          ...each(timestamp, 'dateAdded', 'dateModified'),
        },
        ['key', 'version', 'itemType', 'dateAdded', 'dateModified', 'tags', 'relations'],
      ),
      // The fields of the type: https://github.com/zotero/zotero-schema
      others: anything,
    },
  },
  ['key', 'version', 'library', 'links', 'meta', 'data'],
);
const collection = object(
  {
    ...{ ...stamped, library, links },
    meta: object(each(integer, 'numCollections', 'numItems'), ['numCollections', 'numItems']),
    data: object(
      {
        ...{ ...stamped, name: text, parentCollection: eitherOf(text, always(false)), relations: anything },
        deleted: always(true),
      },
      ['key', 'version', 'name', 'parentCollection', 'relations'],
    ),
  },
  ['key', 'version', 'library', 'links', 'meta', 'data'],
);
const groupData = {
  ...{ id: integer, version: integer, name: text, owner: integer, description: text, url: text },
  type: oneOf('PublicOpen', 'PublicClosed', 'Private'),
  ...{ libraryEditing: oneOf('admins', 'members'), libraryReading: oneOf('all', 'members') },
  fileEditing: oneOf('none', 'admins', 'members'),
};
const group = object(
  {
    ...{ id: integer, version: integer, links },
    meta: object({ created: timestamp, lastModified: timestamp, numItems: integer, isAdmin: flag }, [
      ...['created', 'lastModified', 'numItems'],
    ]),
    data: object({ ...groupData, hasImage: integer, ...each(listOf(integer), 'admins', 'members') }, [
      ...Object.keys(groupData),
    ]),
  },
  ['id', 'version', 'links', 'meta', 'data'],
);

export const zotero: AnswerTable = {
  name: 'zotero',
  specification: 'https://github.com/zotero/dataserver',
  version: '3, 5cf550f3',
  takenOn: '2026-11-27',
  textRefusals: [400, 403, 404, 429, 500, 503],
  refusal: text,
  operations: {
    'GET /keys/{key}': object(
      {
        ...{ key: text, userID: integer, username: text, displayName: text },
        access: object({
          user: object({ ...each(always(true), 'library'), ...each(flag, 'files', 'notes', 'write') }, ['library']),
          groups: { type: 'object', others: object(each(flag, 'library', 'write'), ['library', 'write']) },
        }),
      },
      ['key', 'userID', 'username', 'displayName'],
    ),
    'GET /users/{userID}/groups': listOf(group),
    'GET /groups/{groupID}': group,
    'GET /{kind}/{id}/items': listOf(item),
    'GET /{kind}/{id}/items/{itemKey}': item,
    'GET /{kind}/{id}/items/{itemKey}/children': listOf(item),
    'GET /{kind}/{id}/collections': listOf(collection),
    'GET /{kind}/{id}/collections/{collectionKey}': collection,
    'GET /{kind}/{id}/collections/{collectionKey}/items': listOf(item),
    'GET /{kind}/{id}/deleted': object(each(listOf(text), 'collections', 'items', 'searches', 'tags', 'settings'), [
      ...['collections', 'items', 'searches', 'tags', 'settings'],
    ]),
  },
};
