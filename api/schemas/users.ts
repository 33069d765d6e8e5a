import Joi from 'joi';

import { integer, nullable, timestamp } from './fields.js';
import { named } from './reference.js';

const object = () => Joi.object().unknown();

const listed = {
  id: integer().required(),
  organization_id: integer().required(),
  organization_supplied_user_id: Joi.string().required(),
  created_at: timestamp().required(),
  updated_at: timestamp().required(),
  deleted_at: nullable(timestamp()).required(),
  enabled_features: object().required(),
  custom_limits: object().required(),
  auto_sync_enabled_sources: Joi.array().items(Joi.string()).required(),
};

/** Totals by source or by file format. */
export const aggregates = {
  aggregate_file_size: object().required(),
  aggregate_num_characters: object().required(),
  aggregate_num_tokens: object().required(),
  aggregate_num_embeddings: object().required(),
  aggregate_num_files_by_source: object().required(),
  aggregate_num_files_by_file_format: object().required(),
};

/** A user in lists. */
export const userRecord = named('ListUserResponse', Joi.object(listed));

/** A user with totals over its files. */
export const wholeUserRecord = named(
  'UserResponse',
  Joi.object({
    ...listed,
    num_files_synced: integer().required(),
    num_characters_synced: integer().required(),
    num_tokens_synced: integer().required(),
    ...aggregates,
    unique_file_tags: Joi.array().items(object()).required(),
    connector_settings: object().required(),
  }),
);

/** Customer ids of users. */
export const customerIds = () => Joi.array().items(Joi.string().allow(''));
