/**
 * Answers of Guru, which publishes no schemas. The fields are those of the examples in its documentation and of Guru's
 * own client. A field is required if the examples have it and that client reads it without a default.
 */
import { anyObject, each, eitherOf, flag, integer, listOf, object, oneOf, orNull, type Shape, text } from './shape.js';
import type { AnswerTable } from './table.js';

const nullableText = orNull(text);
/** `2025-12-19T16:41:28.565+0000`. */
const time: Shape = { type: 'string', pattern: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/ };
const user = object(each(nullableText, 'id', 'status', 'email', 'firstName', 'lastName', 'profilePicUrl'));
const verificationState = oneOf('TRUSTED', 'NEEDS_VERIFICATION', 'VERIFIED');
const shareStatus = oneOf('TEAM', 'PRIVATE', 'PUBLIC');

const collectionFields = {
  ...each(text, 'id', 'name', 'slug', 'color', 'homeBoardSlug'),
  ...{ collectionType: oneOf('INTERNAL', 'EXTERNAL'), collectionTypeDetail: nullableText },
  ...each(flag, 'publicCardsEnabled', 'roiEnabled', 'assistEnabled'),
};
/** The collection of a card or a folder. */
const collectionReference = object(collectionFields, ['id', 'name']);
const collection = object(
  {
    ...collectionFields,
    ...{
      description: nullableText,
      dateCreated: time,
      collectionStats: anyObject,
      roles: listOf(text),
      cards: integer,
    },
  },
  ['id', 'name', 'slug', 'homeBoardSlug', 'collectionType', 'dateCreated'],
);

const folderFields = {
  ...each(text, 'id', 'title', 'slug'),
  ...{
    description: nullableText,
    lastModified: time,
    lastModifiedBy: user,
    collection: collectionReference,
    home: flag,
  },
  ...{ numberOfFacts: integer, groupsSharedWith: listOf(anyObject) },
};
const folder = object(folderFields, ['id', 'title', 'slug', 'collection']);

const cardFields = {
  ...each(text, 'id', 'preferredPhrase', 'slug', 'content', 'cardType', 'contentSchemaVersion', 'teamId'),
  ...{ verificationState, shareStatus, collection: collectionReference, version: integer },
  ...each(time, 'dateCreated', 'lastModified', 'lastVerified', 'nextVerificationDate', 'verificationInitiationDate'),
  ...each(user, 'owner', 'originalOwner', 'lastModifiedBy', 'lastVerifiedBy', 'verificationInitiator'),
  ...{ verificationInterval: integer, verificationReason: nullableText, verificationType: text },
  ...{ verificationReasons: listOf(text), verifiers: listOf(anyObject), tags: listOf(anyObject), cardInfo: anyObject },
  ...{ boards: listOf(object({ ...each(text, 'id', 'title', 'slug') }, ['id'])), htmlContent: flag },
  ...each(flag, 'archived', 'favorited', 'followed'),
};
const cardNames = [
  ...['id', 'preferredPhrase', 'slug', 'shareStatus', 'verificationState', 'collection', 'dateCreated', 'lastModified'],
];
const card = object(cardFields, [...cardNames, 'content', 'version']);

/** Returns the shape of the items of a folder. @param detail value of the query parameter `cardDetail` */
const itemsOfFolder = (detail: string | null): Shape => {
  const itemIdField = { itemId: text };
  const folderEntry = object({ type: oneOf('folder'), ...itemIdField, ...folderFields }, [
    'type',
    'itemId',
    'id',
    'title',
    'slug',
  ]);
  const basicCardFields = {
    ...{ type: oneOf('card'), ...itemIdField, folderCount: integer },
    ...{ ...each(text, 'id', 'preferredPhrase', 'slug'), shareStatus, verificationState },
  };
  const cardEntry =
    detail === 'FULL'
      ? object({ ...cardFields, type: oneOf('card', 'fact'), ...itemIdField, folderCount: integer }, [
          ...['type', 'itemId', ...cardNames],
        ])
      : object(basicCardFields, Object.keys(basicCardFields));
  return listOf(eitherOf(folderEntry, cardEntry));
};

export const guru: AnswerTable = {
  name: 'guru',
  specification: 'https://developer.getguru.com/docs/cards',
  version: 'v1',
  takenOn: '2026-11-27',
  // Guru publishes no schema of error responses.
  refusal: anyObject,
  operations: {
    'GET /whoami': object({
      ...{ ...each(nullableText, 'id', 'email', 'firstName', 'lastName'), user },
      team: object({ ...each(text, 'id', 'name', 'status'), dateCreated: time }, ['id', 'name']),
    }),
    'GET /collections': listOf(collection),
    'GET /collections/{collectionId}': collection,
    'GET /folders/{folderId}': folder,
    'GET /folders/{folderId}/items': ({ searchParams }) => itemsOfFolder(searchParams.get('cardDetail')),
    'GET /cards/{cardId}': card,
    'GET /cards/{cardId}/extended': card,
    // 204 without a body if nothing is found.
    'GET /search/query': listOf(card),
  },
};
