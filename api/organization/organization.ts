import Joi from 'joi';

import type { EmbeddingCounts } from '../../store/usage/embeddingUsage.js';
import type { OrganizationDoc } from '../../store/models/organizations.js';
import { operation } from '../http/operation.js';
import { presentAggregates, presentSources } from '../presenters/user.js';
import { integer, nullable, openObject, timestamp } from '../schemas/fields.js';
import { aggregates } from '../schemas/users.js';
import { extension, named } from '../schemas/reference.js';

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

/** GET /organization: returns the calling organization with its totals as of the last aggregation. */
export const organization = operation({
  method: 'get',
  path: '/organization',
  operationId: 'get_organization_organization_get',
  tag: 'Organizations',
  auth: 'key',
  summary: 'Get the organization',
  description: [
    'Returns the organization of the API key: its defaults for users, settings of connectors, use of embedding providers, and totals over the files of all users. The totals are those of the last aggregation, which `POST /organization/statistics` starts; before the first one they are empty.',
  ],
  returns: 'The organization with its defaults for users, and the totals of the last aggregation.',
  answer: named(
    'OrganizationResponse',
    Joi.object({
      id: integer()
        .required()
        .description('Id of the organization: `organization_id` of its files, users, data sources and runs.'),
      name: Joi.string()
        .required()
        .description(
          'Name that the operator gave the organization, for people. Requests name an organization by its API key only.',
        ),
      nickname: nullable(Joi.string()).description('Reserved for compatibility: always null here.'),
      remove_branding: Joi.boolean()
        .required()
        .description('Always `true`: a self-hosted service does not show a brand.'),
      custom_branding: nullable(openObject()).description('Reserved for compatibility: always null here.'),
      custom_limits: nullable(openObject()).description('Reserved for compatibility: always an empty object here.'),
      ...aggregates,
      file_statistics_aggregated_at: nullable(timestamp())
        .required()
        .description('When the last aggregation of the totals ended; null before the first one.'),
      period_ends_at: nullable(timestamp()).description(
        'Reserved for compatibility: always null, because nothing is billed.',
      ),
      cancel_at_period_end: nullable(Joi.boolean()).description(
        'Reserved for compatibility: always null, because nothing is billed.',
      ),
      global_user_config: openObject().description(
        'Limits and automatic syncs that apply to users without values of their own.',
      ),
      connector_settings: openObject().description(
        'Settings of connectors by source type. A setting that is absent or null for a source has its value in `DEFAULT`.',
      ),
      file_sync_usage: openObject().description('Reserved for compatibility: always an empty object here.'),
      embedding_usage: extension(
        Joi.object()
          .pattern(
            Joi.string(),
            named(
              'EmbeddingUsage',
              Joi.object({
                requests: integer()
                  .required()
                  .description('Number of requests that the provider answered; 0 for the built-in model.'),
                tokens: integer()
                  .required()
                  .description('Number of tokens that the provider billed; 0 for the built-in model.'),
                computed: integer()
                  .required()
                  .description('Number of texts that the provider or the built-in model embedded.'),
                reused: integer()
                  .required()
                  .description(
                    'Number of texts that were not embedded again because their vectors were stored already.',
                  ),
              }).description('Totals of one vector space since its first use, over all users of the organization.'),
            ),
          )
          .description('Requests, tokens and texts of each vector space, by its name: `served_by` of `GET /models`.'),
      ),
      logging_settings: openObject().description('Reserved for compatibility: always an empty object here.'),
      created_at: timestamp().required().description('When the operator created the organization, in UTC.'),
      updated_at: timestamp()
        .required()
        .description(
          'When its settings last changed or an API key was revoked, in UTC. Equal to `created_at` before that.',
        ),
    }).description('The organization of the API key, with its settings and totals.'),
  ),
  handle: async ({ caller: { organizationId }, deps: { store } }) =>
    present(await store.organizations.findRecord(organizationId), await store.embeddingUsage.get(organizationId)),
});
