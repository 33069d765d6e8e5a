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

/** It becomes part of a host name. */
const ACCOUNT = /^[a-z0-9]{3,24}$/;

/** What the connector takes. @param where the name stands @throws HttpError 422 for what no account is called */
function azureCredentials(accountName: string, accountKey: string, where: readonly string[]): AzureCredentials {
  if (!ACCOUNT.test(accountName))
    throw invalid(where, 'Give the name of the storage account: 3 to 24 small letters and digits', 'value_error');
  return { accountName, accountKey };
}

/** The same of what was handed over at /integrations/connect. */
export const azureHandedOver = ({ account_name: name = '', account_key: key = '' }: HandedOver): AzureCredentials =>
  azureCredentials(name, key, ['body', 'authentication', 'account_name']);

/** POST /integrations/azure_blob_storage: connects a storage account. Its key is tried before anything is accepted. */
export const connectAzure = operation({
  method: 'post',
  path: '/integrations/azure_blob_storage',
  auth: 'user',
  summary: 'Connects Azure Blob Storage with the key of an account.',
  createsWork: true,
  body: Joi.object({
    account_name: credential(),
    account_key: credential(),
    sync_source_items: Joi.boolean().default(true),
    data_source_tags: tags().default({}),
  }),
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
