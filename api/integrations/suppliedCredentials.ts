import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { ApiDeps } from '../http/deps.js';
import type { SuppliedCredentials } from '../schemas/suppliedCredentials.js';
import { azureSupplied } from './azureBlobStorage/connect.js';
import { freshdeskSupplied } from './freshdesk/connect.js';
import { gitBookSupplied } from './gitbook/connect.js';
import { gitHubSupplied } from './github/connect.js';
import { guruSupplied } from './guru/connect.js';
import { s3Supplied } from './s3/connect.js';

/** Converts the fields of POST /integrations/connect into a connector's credentials. Throws HttpError 422. */
type CredentialConversion = (given: SuppliedCredentials, deps: ApiDeps) => object | Promise<object>;

/** The conversions of all sources that POST /integrations/connect connects without OAuth, one per line. */
export const SUPPLIED_CREDENTIALS: Partial<Readonly<Record<ConnectedSourceType, CredentialConversion>>> = {
  AZURE_BLOB_STORAGE: azureSupplied,
  FRESHDESK: freshdeskSupplied,
  GITBOOK: gitBookSupplied,
  GITHUB: gitHubSupplied,
  GURU: guruSupplied,
  S3: s3Supplied,
};
