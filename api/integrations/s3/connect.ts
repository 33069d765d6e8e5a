import Joi from 'joi';

import type { S3Credentials } from '../../../connectors/s3/sdk.js';
import { Fault } from '../../../contract/failures.js';
import type { DataSourceRecord } from '../../../contract/files/records.js';
import type { ApiDeps } from '../../http/deps.js';
import { invalid } from '../../http/errors.js';
import { operation } from '../../http/operation.js';
import { presentDataSource } from '../../presenters/dataSource.js';
import { dataSourceRecord } from '../../schemas/dataSources.js';
import { orNull } from '../../schemas/fields.js';
import type { SuppliedCredentials } from '../../schemas/suppliedCredentials.js';
import { credential, dataSourceTags, syncSourceItems } from '../../schemas/integrations.js';
import { AFTER_CONNECTING, connectAccount } from '../connectAccount.js';
import { named } from '../../schemas/reference.js';

const MAX_URL = 2_048;

/**
 * Returns a store's address without a trailing slash; null for an empty field, which front-ends send.
 * @param within path, in the request, of the object that contains the address
 * @throws HttpError 422 if it is invalid, or may not be called
 */
async function endpointOf(
  text: string | undefined,
  within: readonly string[],
  { addresses }: Pick<ApiDeps, 'addresses'>,
): Promise<string | null> {
  if (!text) return null;
  const where = [...within, 'endpoint_url'];
  const url = URL.canParse(text) ? new URL(text) : null;
  const isAddress =
    url !== null && /^https?:$/.test(url.protocol) && url.username + url.password + url.search + url.hash === '';
  if (!isAddress)
    throw invalid(where, 'Give the http(s) address of the store, without credentials and without ? or #', 'url_type');
  try {
    await addresses.check(url.href);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const refused = 'This service may not call this address';
    throw invalid(
      where,
      error.kind === 'address_refused' ? refused : 'The host name cannot be resolved',
      'value_error',
    );
  }
  return url.href.replace(/\/+$/, '');
}

/** Converts the fields of /integrations/connect into the connector's credentials. */
export const s3Supplied = async (supplied: SuppliedCredentials, deps: ApiDeps): Promise<S3Credentials> => ({
  accessKey: supplied['access_key'] ?? '',
  accessKeySecret: supplied['access_key_secret'] ?? '',
  endpointUrl: await endpointOf(supplied['endpoint_url'], ['body', 'authentication'], deps),
});

/** POST /integrations/s3: connects S3, or a compatible store. Its keys are verified before anything is stored. */
export const connectS3 = operation({
  method: 'post',
  path: '/integrations/s3',
  operationId: 's3_auth_integrations_s3_post',
  tag: 'Integrations',
  auth: 'user',
  summary: 'Connect S3 or a compatible store',
  description: [
    `Connects a store with an access key. ${AFTER_CONNECTING}

By default buckets and objects are listed. The event \`DATA_SOURCE_READY\` is sent after a complete listing. \`POST /integrations/s3/files\` then syncs some of them. A key that may not list buckets can be connected: its listing ends in \`SYNC_ERROR\`, and named buckets can still be synced. Another key, also a rotated one, is another data source.`,
  ],
  returns:
    'Record of the connected account, without its secret key. Its `id` is the `data_source_id` of later requests.',
  createsWork: true,
  body: named(
    'S3AuthRequest',
    Joi.object({
      access_key: credential().description(
        'Id of the access key, such as `AKIAIOSFODNN7EXAMPLE`. It identifies the data source: another key creates another one.',
      ),
      access_key_secret: credential().description('Secret that belongs to the access key. It is stored encrypted.'),
      endpoint_url: orNull(Joi.string().allow('').max(MAX_URL)).description(
        'http(s) address of a store that is compatible with S3. Absent, null or empty: AWS. An address that the service may not call returns 422.',
      ),
      sync_source_items: syncSourceItems(true),
      data_source_tags: dataSourceTags(),
    }).description(
      'Access key of S3 or a compatible store, its tags, and whether the store is listed after the connection.',
    ),
  ),
  answer: dataSourceRecord,
  async handle({ caller, body, deps }): Promise<DataSourceRecord> {
    const credentials: S3Credentials = {
      accessKey: body.access_key,
      accessKeySecret: body.access_key_secret,
      endpointUrl: await endpointOf(body.endpoint_url, ['body'], deps),
    };
    const source = await connectAccount(
      caller,
      {
        type: 'S3',
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
