import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { ApiDeps } from '../http/deps.js';
import type { HandedOver } from '../schemas/handedOver.js';
import { azureHandedOver } from './azureBlobStorage/connect.js';
import { freshdeskHandedOver } from './freshdesk/connect.js';
import { gitBookHandedOver } from './gitbook/connect.js';
import { gitHubHandedOver } from './github/connect.js';
import { guruHandedOver } from './guru/connect.js';
import { s3HandedOver } from './s3/connect.js';

/** Converts the fields of POST /integrations/connect into a connector's credentials. Throws HttpError 422. */
type Taking = (given: HandedOver, deps: ApiDeps) => object | Promise<object>;

/** Every source without consent, one per line. */
export const TAKE_HANDED_OVER: Partial<Readonly<Record<ConnectedSourceType, Taking>>> = {
  AZURE_BLOB_STORAGE: azureHandedOver,
  FRESHDESK: freshdeskHandedOver,
  GITBOOK: gitBookHandedOver,
  GITHUB: gitHubHandedOver,
  GURU: guruHandedOver,
  S3: s3HandedOver,
};
