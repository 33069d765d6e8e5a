import Joi from 'joi';

import { effectiveLimits } from '../../contract/limits.js';
import { operation } from '../http/operation.js';
import { byName, integer, openObject } from '../schemas/fields.js';
import { named } from '../schemas/reference.js';

/** GET /auth/v1/white_labeling: returns the settings that a front end needs before it shows the sources. */
export const whiteLabeling = operation({
  method: 'get',
  path: '/auth/v1/white_labeling',
  operationId: 'get_white_labeling_auth_v1_white_labeling_get',
  tag: 'Auth',
  auth: 'user',
  summary: 'Get settings for a front end',
  description: [
    'Returns the settings that a front end needs before it shows the sources: the limits of the calling user, the sources with an OAuth client of the organization, and settings of connectors. Published front ends call it once at their start, with the access token of the user.',
  ],
  returns: 'Limits of the calling user, sources with an OAuth client of the organization, and settings of connectors.',
  answer: named(
    'WhiteLabelingResponse',
    Joi.object({
      remove_branding: Joi.boolean()
        .required()
        .description('Always `true`: a self-hosted service does not show a brand.'),
      integrations: byName(Joi.boolean())
        .required()
        .description('`true` for each source type with an OAuth client of the organization. Other types are absent.'),
      custom_limits: byName(integer())
        .required()
        .description(
          "Limits that apply to the user, by name: the user's own value, or else that of the organization. A limit is absent if it is unlimited. `file_size_limit` is the server setting `MAX_UPLOAD_BYTES`.",
        ),
      connector_settings: openObject()
        .required()
        .description(
          'Settings by source type or `DEFAULT`, as `POST /organization/update` stored them in `data_source_configs`.',
        ),
    }).description(
      'What a front end needs before it shows the sources: limits, OAuth clients and settings of connectors.',
    ),
  ),
  async handle({ caller, deps: { store, settings } }) {
    const [organization, user, types] = await Promise.all([
      store.organizations.findRecord(caller.organizationId),
      store.users.findRecord(caller),
      store.whiteLabels.types(caller.organizationId),
    ]);
    const limits = effectiveLimits(user?.customLimits ?? {}, organization.userLimits ?? {});
    return {
      remove_branding: true,
      integrations: Object.fromEntries(types.map((type) => [type, true])),
      custom_limits: {
        ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null)),
        // Without it, front ends reject files larger than 20 MB.
        file_size_limit: settings.maxUploadBytes,
      },
      connector_settings: organization.connectorSettings ?? {},
    };
  },
});
