import Joi from 'joi';

import { operation } from '../http/operation.js';
import { typed } from '../schemas/inferred.js';
import { named } from '../schemas/reference.js';
import { success } from '../schemas/answers.js';

/** Features of a user that can be enabled and disabled. */
const FEATURES = ['sparse_vectors'] as const;

/** Schema of the value. The public contract allows any object, so only the member `enabled` is validated. */
const switchValue = typed<{ enabled: boolean }>(
  Joi.object()
    .unknown()
    .custom((value: Record<string, unknown>, helpers) =>
      typeof value['enabled'] === 'boolean'
        ? value
        : helpers.message({ custom: '{{#label}} must be {"enabled": true} or {"enabled": false}' }),
    ),
);

/** POST /modify_user_configuration: enables or disables a feature of the calling user. */
export const modifyConfiguration = operation({
  method: 'post',
  path: '/modify_user_configuration',
  operationId: 'toggle_user_features_modify_user_configuration_post',
  tag: 'Users',
  auth: 'user',
  summary: 'Enable or disable a feature',
  description: [
    'Enables or disables a feature of the calling end user. The only feature is `sparse_vectors`: while it is disabled, searches with `hybrid_search` return 400. Stored vectors do not change, and uploads and syncs with `generate_sparse_vectors` still create sparse vectors. `enabled_features` of `GET /whoami` has the state.',
  ],
  returns: '`success: true`: the feature is enabled or disabled from now on.',
  body: named(
    'ModifyUserConfigurationInput',
    Joi.object({
      configuration_key_name: named(
        'ConfigurationKeys',
        Joi.string()
          .valid(...FEATURES)
          .description('Feature of an end user. `sparse_vectors`: whether `hybrid_search` is allowed.'),
      )
        .required()
        .description('Name of the feature to change; only `sparse_vectors` exists.'),
      value: switchValue
        .required()
        .description('`{"enabled": true}` or `{"enabled": false}`. Other members are ignored.'),
    }).description('A feature of the calling end user, and whether it is enabled.'),
  ),
  answer: success,
  async handle({ caller, body, deps: { store } }) {
    await store.users.setFeature(caller, body.configuration_key_name, body.value.enabled);
    return { success: true };
  },
});
