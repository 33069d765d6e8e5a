import Joi from 'joi';

import type { EmbeddingCounts } from '../../store/usage/embeddingUsage.js';
import type { OrganizationDoc } from '../../store/organizations/model.js';
import { operation } from '../http/operation.js';
import { presentAggregates, presentSources } from '../presenters/user.js';
import { integer, nullable, timestamp } from '../schemas/fields.js';
import { aggregates } from '../schemas/users.js';
import { extension, named } from '../schemas/reference.js';

const object = () => Joi.object().unknown();

function present(organization: OrganizationDoc, usage: Readonly<Record<string, EmbeddingCounts>>) {
  const sources = organization.userAutoSyncSources ?? null;
  return {
    id: organization._id,
    name: organization.name,
    nickname: null,
    remove_branding: true,
    custom_branding: null,
    custom_limits: {},
    ...presentAggregates(organization.statistics),
    file_statistics_aggregated_at: organization.statisticsAt?.toISOString() ?? null,
    period_ends_at: null,
    cancel_at_period_end: null,
    global_user_config: {
      ...organization.userLimits,
      ...(sources === null ? {} : { auto_sync_enabled_sources: presentSources(sources) }),
    },
    connector_settings: organization.connectorSettings ?? {},
    file_sync_usage: {},
    embedding_usage: usage,
    logging_settings: {},
    created_at: organization.createdAt.toISOString(),
    updated_at: (organization.updatedAt ?? organization.createdAt).toISOString(),
  };
}

/** GET /organization: returns the calling organization with its totals as of the last recount. */
export const organization = operation({
  method: 'get',
  path: '/organization',
  operationId: 'get_organization_organization_get',
  tag: 'Organizations',
  auth: 'key',
  summary: 'Get the organization',
  description:
    'Returns the organization of the API key: its defaults for users, settings of connectors, use of embedding providers, and totals over the files of all users. The totals are those of the last recount, which `POST /organization/statistics` starts; before the first one they are empty.',
  answer: named(
    'OrganizationResponse',
    Joi.object({
      id: integer().required(),
      name: Joi.string().required(),
      nickname: nullable(Joi.string()),
      remove_branding: Joi.boolean().required(),
      custom_branding: nullable(object()),
      custom_limits: nullable(object()),
      ...aggregates,
      file_statistics_aggregated_at: nullable(timestamp()).required(),
      period_ends_at: nullable(timestamp()),
      cancel_at_period_end: nullable(Joi.boolean()),
      global_user_config: object(),
      connector_settings: object(),
      file_sync_usage: object(),
      embedding_usage: extension(
        Joi.object().pattern(
          Joi.string(),
          named(
            'EmbeddingUsage',
            Joi.object({
              requests: integer().required(),
              tokens: integer().required(),
              computed: integer().required(),
              reused: integer().required(),
            }),
          ),
        ),
      ),
      logging_settings: object(),
      created_at: timestamp().required(),
      updated_at: timestamp().required(),
    }),
  ),
  handle: async ({ caller: { organizationId }, deps: { store } }) =>
    present(await store.organizations.record(organizationId), await store.embeddingUsage.of(organizationId)),
});
