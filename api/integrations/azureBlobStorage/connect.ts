import Joi from 'joi';

import type { AzureCredentials } from '../../../connectors/azureBlobStorage/sharedKey.js';
import type { DataSourceRecord } from '../../../contract/records.js';
import { invalid } from '../../http/errors.js';
import { operation } from '../../http/operation.js';
import { presentDataSource } from '../../presenters/dataSource.js';
import { dataSourceRecord } from '../../schemas/dataSources.js';
import type { HandedOver } from '../../schemas/handedOver.js';
import { credential } from '../../schemas/integrations.js';
import { tags } from '../../schemas/tags.js';
import { connectAccount } from '../connectAccount.js';
import { named } from '../../schemas/reference.js';

/** The name becomes part of a host name. */
const ACCOUNT = /^[a-z0-9]{3,24}$/;

/**
 * Returns the connector's credentials. @param where path of the account name @throws HttpError 422 for an invalid
 * account name
 */
function azureCredentials(accountName: string, accountKey: string, where: readonly string[]): AzureCredentials {
  if (!ACCOUNT.test(accountName))
    throw invalid(where, 'Give the name of the storage account: 3 to 24 small letters and digits', 'value_error');
  return { accountName, accountKey };
}

/** Converts the fields of /integrations/connect in the same way. */
export const azureHandedOver = ({ account_name: name = '', account_key: key = '' }: HandedOver): AzureCredentials =>
  azureCredentials(name, key, ['body', 'authentication', 'account_name']);

/** POST /integrations/azure_blob_storage: connects a storage account. Its key is verified before anything is stored. */
export const connectAzure = operation({
  method: 'post',
  path: '/integrations/azure_blob_storage',
  operationId: 'azure_blob_storage_auth_integrations_azure_blob_storage_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Connects Azure Blob Storage with the key of an account.',
  description: [],
  createsWork: true,
  body: named(
    'AzureBlobAuthRequest',
    Joi.object({
      account_name: credential(),
      account_key: credential(),
      sync_source_items: Joi.boolean().default(true),
      data_source_tags: tags().default({}),
    }),
  ),
  answer: dataSourceRecord,
  async handle({ caller, body, deps }): Promise<DataSourceRecord> {
    const credentials = azureCredentials(body.account_name, body.account_key, ['body', 'account_name']);
    const source = await connectAccount(
      caller,
      {
        type: 'AZURE_BLOB_STORAGE',
        credentials,
        dataSourceTags: body.data_source_tags,
        listItems: body.sync_source_items,
        syncFiles: false,
      },
      deps,
    );
    return presentDataSource(source, deps);
  },
});
