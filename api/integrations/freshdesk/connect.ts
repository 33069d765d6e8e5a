import Joi from 'joi';

import type { FreshdeskCredentials } from '../../../connectors/freshdesk/index.js';
import { invalid } from '../../http/errors.js';
import { operation } from '../../http/operation.js';
import { toConnectionOptions } from '../../schemas/consent.js';
import { orNull } from '../../schemas/fields.js';
import { ingestFields } from '../../schemas/ingest.js';
import { credential, fileSyncConfig, requestId } from '../../schemas/integrations.js';
import type { HandedOver } from '../../schemas/handedOver.js';
import { tags } from '../../schemas/tags.js';
import { connectAccount } from '../connectAccount.js';
import { named } from '../../schemas/reference.js';
import { success } from '../../schemas/answers.js';

/** The domain becomes part of a host name. */
const DOMAIN = /^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.freshdesk\.com)?$/i;

/** Returns the connector's credentials. @param where path of the domain field @throws HttpError 422 for a domain outside Freshdesk */
function freshdeskCredentials(given: string, apiKey: string, where: readonly string[]): FreshdeskCredentials {
  const domain = DOMAIN.exec(given)?.[1]?.toLowerCase();
  if (domain === undefined)
    throw invalid(where, 'Give the domain of the account: harbour, or harbour.freshdesk.com', 'value_error');
  return { domain, apiKey };
}

/** Converts the fields of POST /integrations/connect. @throws HttpError 422 */
export const freshdeskHandedOver = (given: HandedOver): FreshdeskCredentials =>
  freshdeskCredentials(given['domain'] ?? '', given['api_key'] ?? '', ['body', 'authentication', 'domain']);

/** POST /integrations/freshdesk: connects a Freshdesk account. Its key is verified before anything is stored. */
export const connectFreshdesk = operation({
  method: 'post',
  path: '/integrations/freshdesk',
  operationId: 'freshdesk_connect_integrations_freshdesk_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Connects Freshdesk with the API key of an agent.',
  description: [],
  createsWork: true,
  body: named(
    'FreshDeskConnectRequest',
    Joi.object({
      domain: credential(),
      api_key: credential(),
      tags: orNull(tags(), {}),
      ...ingestFields(),
      sync_files_on_connection: orNull(Joi.boolean(), true),
      request_id: requestId(),
      sync_source_items: Joi.boolean().default(true),
      file_sync_config: fileSyncConfig(),
      data_source_tags: tags().default({}),
    }),
  ),
  answer: success,
  async handle({ caller, body, deps }) {
    await connectAccount(
      caller,
      {
        type: 'FRESHDESK',
        credentials: freshdeskCredentials(body.domain, body.api_key, ['body', 'domain']),
        dataSourceTags: body.data_source_tags,
        listItems: body.sync_source_items,
        syncFiles: body.sync_files_on_connection,
        options: toConnectionOptions('FRESHDESK', body),
      },
      deps,
    );
    return { success: true };
  },
});
