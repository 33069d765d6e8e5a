import Joi from 'joi';

import { effectiveLimits } from '../../contract/limits.js';
import { operation } from '../http/operation.js';
import { named } from '../schemas/reference.js';

const object = () => Joi.object().unknown();

/** GET /auth/v1/white_labeling: returns the settings that a front-end needs before it shows the sources. */
export const whiteLabeling = operation({
  method: 'get',
  path: '/auth/v1/white_labeling',
  operationId: 'get_white_labeling_auth_v1_white_labeling_get',
  tag: 'Auth',
  auth: 'user',
  summary: "Tells a front-end the calling user's limits and which sources have an OAuth client of the organization.",
  description: [],
  answer: named(
    'WhiteLabelingResponse',
    Joi.object({
      remove_branding: Joi.boolean().required(),
      integrations: object().required(),
      custom_limits: object().required(),
      connector_settings: object().required(),
    }),
  ),
  async handle({ caller, deps: { store, settings } }) {
    const [organization, user, types] = await Promise.all([
      store.organizations.record(caller.organizationId),
      store.users.record(caller),
      store.whiteLabels.types(caller.organizationId),
    ]);
    const limits = effectiveLimits(user?.customLimits ?? {}, organization.userLimits ?? {});
    return {
      remove_branding: true,
      integrations: Object.fromEntries(types.map((type) => [type, true])),
      custom_limits: {
        ...Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== null)),
        // Without it, front-ends reject files larger than 20 MB.
        file_size_limit: settings.maxUploadBytes,
      },
      connector_settings: organization.connectorSettings ?? {},
    };
  },
});
