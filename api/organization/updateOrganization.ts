import Joi from 'joi';

import { SOURCE_TYPES } from '../../contract/sources/sources.js';
import { ALL_CONNECTORS } from '../../contract/sources/connectedSources.js';
import type { ConnectorSettings } from '../../store/models/organizations.js';
import { operation } from '../http/operation.js';
import { orNull } from '../schemas/fields.js';
import { changesAutoSync, toLimits, toSources, userSettings } from '../schemas/limits.js';
import { typed } from '../schemas/inferred.js';
import { withMessages } from '../schemas/messages.js';
import { named } from '../schemas/reference.js';
import { success } from '../schemas/answers.js';

const connectorSettings = named(
  'DataSourceConfiguration',
  Joi.object({
    allowed_file_formats: Joi.array()
      .items(Joi.string())
      .default([])
      .description('Stored and returned, but without effect in this version: no format is excluded.'),
    google_workspace_docs_save_as: Joi.string()
      .allow(null)
      .description(
        'Format in which Google documents are downloaded: `TXT`, `DOCX`, `RTF` or `PDF`; for Sheets `CSV`, `TSV` or `PDF`; for Slides `TXT` or `PDF`. Null: the format of `DEFAULT`. If that is null too, or the kind of document does not have the format: Markdown for documents, XLSX for Sheets and PPTX for Slides.',
      ),
  }).description('Settings of one source, or defaults of all sources, for all users of the organization.'),
);

/** POST /organization/update: changes defaults for users without own values, and settings of connectors. */
export const updateOrganization = operation({
  method: 'post',
  path: '/organization/update',
  operationId: 'update_organization_organization_update_post',
  tag: 'Organizations',
  auth: 'key',
  summary: 'Update the organization',
  description: [
    'Sets limits and automatic syncs of users without values of their own, and settings of connectors. Null and absent fields change nothing; the settings of a named source replace all of its earlier ones. `GET /organization` returns them as `global_user_config` and `connector_settings`. Schedules of automatic syncs are changed shortly after the response.',
  ],
  returns: '`success: true`: the settings are stored and apply from now on.',
  body: named(
    'UpdateOrganizationInput',
    Joi.object({
      global_user_config: orNull(
        named(
          'UserConfiguration',
          Joi.object(userSettings()).description(
            'Limits and automatic syncs that apply to users without values of their own.',
          ),
        ),
      ).description('Limits and automatic syncs of users without values of their own. Absent and null: no change.'),
      data_source_configs: orNull(
        typed<Record<string, ConnectorSettings>>(
          Joi.object()
            .pattern(Joi.string().valid(ALL_CONNECTORS, ...SOURCE_TYPES), connectorSettings)
            .pattern(/^/, withMessages(Joi.forbidden(), { 'any.unknown': 'must be a source type or DEFAULT' })),
        ),
      ).description(
        'Settings by source type. A setting that is absent or null for a source has its value in `DEFAULT`. The settings of a source replace all of its earlier ones. Null: no change.',
      ),
    }).description('New defaults for users, and new settings of connectors. Absent fields change nothing.'),
  ),
  answer: success,
  async handle({ caller: { organizationId }, body, deps: { store, unit } }) {
    const users = body.global_user_config ?? {};
    const sources = toSources(users);
    const change = {
      userLimits: toLimits(users),
      ...(sources ? { userAutoSyncSources: sources } : {}),
      connectorSettings: body.data_source_configs ?? {},
    };
    await unit.transaction(async (session) => {
      await store.organizations.update(organizationId, change, session);
      if (changesAutoSync(users)) await store.schedules.markOrganization(organizationId, session);
    });
    return { success: true };
  },
});
