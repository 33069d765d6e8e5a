import Joi from 'joi';

import type { FreshdeskCredentials } from '../../../connectors/freshdesk/index.js';
import { invalid } from '../../http/errors.js';
import { operation } from '../../http/operation.js';
import { syncFilesOnConnection, toConnectionOptions } from '../../schemas/consent.js';
import { ingestFields } from '../../schemas/ingest.js';
import { credential, dataSourceTags, fileSyncConfig, requestId, syncSourceItems } from '../../schemas/integrations.js';
import type { SuppliedCredentials } from '../../schemas/suppliedCredentials.js';
import { AFTER_CONNECTING, connectAccount } from '../connectAccount.js';
import { connectionTags, connectRequest } from '../connectByToken.js';
import { named } from '../../schemas/reference.js';
import { success } from '../../schemas/answers.js';

/** Valid domains of accounts. The domain becomes part of a host name. */
const DOMAIN = /^([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)(?:\.freshdesk\.com)?$/i;

/**
 * Returns the connector's credentials.
 * @param where path of the domain field
 * @throws HttpError 422 for a domain outside Freshdesk
 */
function freshdeskCredentials(domainText: string, apiKey: string, where: readonly string[]): FreshdeskCredentials {
  const domain = DOMAIN.exec(domainText)?.[1]?.toLowerCase();
  if (domain === undefined)
    throw invalid(where, 'Give the domain of the account: harbour, or harbour.freshdesk.com', 'value_error');
  return { domain, apiKey };
}

/** Converts the fields of POST /integrations/connect. @throws HttpError 422 */
export const freshdeskSupplied = (supplied: SuppliedCredentials): FreshdeskCredentials =>
  freshdeskCredentials(supplied['domain'] ?? '', supplied['api_key'] ?? '', ['body', 'authentication', 'domain']);

/** POST /integrations/freshdesk: connects a Freshdesk account. Its key is verified before anything is stored. */
export const connectFreshdesk = operation({
  method: 'post',
  path: '/integrations/freshdesk',
  operationId: 'freshdesk_connect_integrations_freshdesk_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Connect Freshdesk with the API key of an agent',
  description: [
    `Connects a Freshdesk account. The articles and tickets that the agent can read can be listed and synced. ${AFTER_CONNECTING}

By default the account is listed and synced completely. The event \`DATA_SOURCE_READY\` is sent after a complete listing. With \`sync_files_on_connection: false\`, nothing is synced until you call \`POST /integrations/files/sync\`.`,
  ],
  returns:
    '`success: true`: Freshdesk accepted the key, and the account is stored. Its listing and sync may still be in progress.',
  createsWork: true,
  body: named(
    'FreshDeskConnectRequest',
    Joi.object({
      domain: credential().description(
        'Domain of the account: `example` or `example.freshdesk.com`. Another host returns 422.',
      ),
      api_key: credential().description(
        'API key of an agent, which determines what can be read. It is stored encrypted and never returned.',
      ),
      tags: connectionTags(),
      ...ingestFields(),
      sync_files_on_connection: syncFilesOnConnection('FRESHDESK'),
      request_id: requestId(),
      sync_source_items: syncSourceItems(true),
      file_sync_config: fileSyncConfig(),
      data_source_tags: dataSourceTags(),
    }).description(connectRequest('a Freshdesk account')),
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
