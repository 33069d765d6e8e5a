import Joi from 'joi';

import { byName, integer, nullable, openObject, timestamp } from './fields.js';
import { named } from './reference.js';
import { storedTags } from './tags.js';

const feature = named(
  'EnabledFeature',
  Joi.object({
    enabled: Joi.boolean().required().description('`false`: requests of the user that need the feature return 400.'),
  }).description('State of a feature of a user, as `POST /modify_user_configuration` set it.'),
);

/** Returns the schema of integers by name. */
const counts = () => byName(integer());

const listedFields = {
  id: integer()
    .required()
    .description(
      'Id of the user in this service. If you use the `customer-id` of a deleted user again, the new user gets another `id`.',
    ),
  organization_id: integer()
    .required()
    .description(
      '`id` of the organization, as `GET /organization` returns it. All users that an API key can read have the same.',
    ),
  organization_supplied_user_id: Joi.string()
    .required()
    .description('Your id of the user, as in the header `customer-id`.'),
  created_at: timestamp()
    .required()
    .description('When the user was created, in UTC: at the first request with its `customer-id`.'),
  updated_at: timestamp()
    .required()
    .description('When any field of the record last changed, in UTC. Lists can be sorted by it.'),
  deleted_at: nullable(timestamp())
    .required()
    .description('When the user was deleted, in UTC; a run then erases its data. Null while it exists.'),
  enabled_features: byName(feature)
    .required()
    .description('Features that were enabled or disabled, such as `{"sparse_vectors": {"enabled": false}}`.'),
  custom_limits: counts()
    .required()
    .description(
      'Limits that `POST /update_users` set for this user, by name, such as `{"max_files": 1000}`; -1 means unlimited. For a limit that is absent here, the one of the organization applies.',
    ),
  auto_sync_enabled_sources: Joi.array()
    .items(Joi.string())
    .required()
    .description(
      'Source types that are synced on a schedule, such as `NOTION`, as `POST /update_users` set them for this user. Empty in two cases: no list was set, so that of the organization applies; or an empty list was set, so nothing is synced on a schedule.',
    ),
};

/** Totals by source or by file format. */
export const aggregates = {
  aggregate_file_size: counts()
    .required()
    .description(
      'Size in bytes of the contents of all files, by source type such as `PDF` or `NOTION`. Extracted text is not included.',
    ),
  aggregate_num_characters: counts()
    .required()
    .description('Number of characters of the extracted text of all files, by source type.'),
  aggregate_num_tokens: counts()
    .required()
    .description('Number of tokens (cl100k) of the extracted text of all files, by source type.'),
  aggregate_num_embeddings: counts()
    .required()
    .description('Number of vectors of all files, by source type. Vectors in cold storage are included.'),
  aggregate_num_files_by_source: counts()
    .required()
    .description('Number of files with content, by source type; folders and parent files of scrapes do not count.'),
  aggregate_num_files_by_file_format: counts()
    .required()
    .description('Number of files with content, by format of the content such as `HTML`.'),
};

/** A user in lists. */
export const userRecord = named(
  'ListUserResponse',
  Joi.object(listedFields).description('An end user of the organization, with its limits and features.'),
);

/** A user with totals over its files. */
export const wholeUserRecord = named(
  'UserResponse',
  Joi.object({
    ...listedFields,
    num_files_synced: integer()
      .required()
      .description('Number of files with content. Folders and parent files of scrapes do not count.'),
    num_characters_synced: integer()
      .required()
      .description('Number of characters of extracted text in all files of the user.'),
    num_tokens_synced: integer()
      .required()
      .description('Number of tokens (cl100k) of extracted text in all files of the user.'),
    ...aggregates,
    unique_file_tags: Joi.array()
      .items(storedTags())
      .required()
      .description('One object for each different key and value among the tags of the files, at most 1,000.'),
    connector_settings: openObject()
      .required()
      .description('Settings of connectors of the organization, by source type or `DEFAULT`.'),
  }).description('An end user of the organization, with limits, features, and current totals over its files.'),
);

/** Returns the schema of customer ids of users. */
export const customerIds = () => Joi.array().items(Joi.string().allow(''));
