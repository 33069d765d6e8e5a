import { answerOf } from '../soqlContract.js';
import { anyObject, anything, each, flag, integer, listOf, timestamp, object, oneOf, orNull, text } from './shape.js';
import type { AnswerTable } from './table.js';

const nullableText = orNull(text);
/** Types of fields: https://developer.salesforce.com/docs/platform/object-reference/guide/field-types.html. */
const fieldType = oneOf(
  ...['address', 'anyType', 'base64', 'boolean', 'combobox', 'complexvalue', 'currency', 'date', 'datetime', 'double'],
  ...[
    'email',
    'encryptedstring',
    'id',
    'int',
    'json',
    'location',
    'long',
    'multipicklist',
    'percent',
    'phone',
    'picklist',
  ],
  ...['reference', 'string', 'textarea', 'time', 'url'],
);
/** A field of a description, with those of its properties that a connector may read. */
const field = object(
  {
    ...each(text, 'name', 'label', 'soapType'),
    type: fieldType,
    relationshipName: nullableText,
    ...each(flag, 'custom', 'htmlFormatted', 'nillable'),
    length: integer,
    referenceTo: listOf(text),
  },
  ['name', 'label', 'type', 'relationshipName', 'custom', 'htmlFormatted'],
);

/** https://developer.salesforce.com/docs/platform/api-rest/guide/errorcodes.html */
const refusal = listOf(
  object({ ...each(text, 'message', 'errorCode'), fields: listOf(text) }, ['message', 'errorCode']),
);
const COMMON = { version: 'v67.0; @jsforce/jsforce-node 3.10.16', takenOn: '2026-11-26', refusal } as const;

export const salesforce: AnswerTable = {
  ...COMMON,
  name: 'salesforce',
  specification: 'https://developer.salesforce.com/docs/platform/api-rest/guide/resources-list.html',
  operations: {
    // Path of each resource by its name; the value of `identity` is a complete URL.
    'GET /': { type: 'object', others: text },
    'GET /query': ({ searchParams }) => answerOf(searchParams.get('q') ?? ''),
    'GET /sobjects/{object}/describe': {
      ...object({ name: text, fields: listOf(field) }, ['name', 'fields']),
      others: anything,
    },
    'GET /sobjects/{object}/deleted': object(
      {
        deletedRecords: listOf(object({ id: text, deletedDate: timestamp }, ['id', 'deletedDate'])),
        ...each(timestamp, 'earliestDateAvailable', 'latestDateCovered'),
      },
      ['deletedRecords', 'earliestDateAvailable', 'latestDateCovered'],
    ),
  },
};

export const salesforceIdentity: AnswerTable = {
  ...COMMON,
  name: 'salesforceIdentity',
  specification: 'https://help.salesforce.com/s/articleView?id=xcloud.remoteaccess_using_userinfo_endpoint.htm',
  operations: {
    'GET /userinfo': object(
      {
        ...each(
          text,
          'sub',
          'user_id',
          'organization_id',
          'preferred_username',
          'nickname',
          'name',
          'email',
          'profile',
        ),
        ...each(text, 'picture', 'user_type', 'language', 'locale', 'updated_at', 'zoneinfo'),
        ...each(nullableText, 'given_name', 'family_name'),
        ...each(flag, 'active', 'email_verified', 'is_app_installed', 'is_salesforce_integration_user'),
        ...each(anyObject, 'address', 'photos', 'urls'),
        utcOffset: integer,
      },
      ['sub', 'user_id', 'organization_id', 'preferred_username', 'name', 'email'],
    ),
  },
};
