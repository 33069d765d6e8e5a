import Joi from 'joi';

import type { AzureCredentials } from '../../../connectors/azureBlobStorage/sharedKey.js';
import type { DataSourceRecord } from '../../../contract/files/records.js';
import { invalid } from '../../http/errors.js';
import { operation } from '../../http/operation.js';
import { presentDataSource } from '../../presenters/dataSource.js';
import { dataSourceRecord } from '../../schemas/dataSources.js';
import type { SuppliedCredentials } from '../../schemas/suppliedCredentials.js';
import { credential, dataSourceTags, syncSourceItems } from '../../schemas/integrations.js';
import { AFTER_CONNECTING, connectAccount } from '../connectAccount.js';
import { named } from '../../schemas/reference.js';

/** Valid names of storage accounts. The name becomes part of a host name. */
const ACCOUNT = /^[a-z0-9]{3,24}$/;

/**
 * Returns the connector's credentials.
 * @param where path of the account name in the request
 * @throws HttpError 422 for an invalid account name
 */
function azureCredentials(accountName: string, accountKey: string, where: readonly string[]): AzureCredentials {
  if (!ACCOUNT.test(accountName))
    throw invalid(where, 'Give the name of the storage account: 3 to 24 lower-case letters and digits', 'value_error');
  return { accountName, accountKey };
}

/** Returns the connector's credentials from the fields of POST /integrations/connect. */
export const azureSupplied = ({
  account_name: name = '',
  account_key: key = '',
}: SuppliedCredentials): AzureCredentials => azureCredentials(name, key, ['body', 'authentication', 'account_name']);

/** POST /integrations/azure_blob_storage: connects a storage account. Its key is verified before anything is stored. */
export const connectAzure = operation({
  method: 'post',
  path: '/integrations/azure_blob_storage',
  operationId: 'azure_blob_storage_auth_integrations_azure_blob_storage_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Connect Azure Blob Storage with an account key',
  description: [
    `Connects a storage account with one of its access keys. ${AFTER_CONNECTING}

By default containers, folders and blobs are listed. The event \`DATA_SOURCE_READY\` is sent after a complete listing. \`POST /integrations/azure_blob_storage/files\` then syncs some of them. Archived blobs are not read.`,
  ],
  returns:
    'Record of the connected account, without its access key. Its `id` is the `data_source_id` of later requests.',
  createsWork: true,
  body: named(
    'AzureBlobAuthRequest',
    Joi.object({
      account_name: credential().description(
        'Name of the storage account: 3 to 24 lower-case letters and digits, else 422.',
      ),
      account_key: credential().description(
        'One of the two access keys of the storage account, from the Azure portal. It is stored encrypted.',
      ),
      sync_source_items: syncSourceItems(true),
      data_source_tags: dataSourceTags(),
    }).description(
      'Name and access key of an Azure storage account, its tags, and whether it is listed after the connection.',
    ),
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
