/** Credentials of the fixtures in the form that connectors expect, for tests that run no service. */
import type { ConnectedSourceType } from '../../../contract/sources/connectedSources.js';
import { ACCOUNT, ACCOUNT_KEY } from '../../emulators/azureBlobStorage.js';
import { TOKEN as DOCUMENT360_TOKEN } from '../../emulators/document360.js';
import { FRESHDESK_DOMAIN, FRESHDESK_KEY } from '../../emulators/freshdesk.js';
import { TOKEN as GITBOOK_TOKEN } from '../../emulators/gitbook.js';
import { GITHUB_TOKEN, LOGIN } from '../../emulators/github.js';
import { TOKEN as GURU_TOKEN, USERNAME } from '../../emulators/guru.js';
import { ACCESS_KEY, ACCESS_KEY_SECRET } from '../../emulators/s3Source.js';
import { ZENDESK_SUBDOMAIN } from './zendesk.js';

/** Credentials of sources without OAuth. */
export const suppliedCredentials: Partial<Readonly<Record<ConnectedSourceType, object>>> = {
  AZURE_BLOB_STORAGE: { accountName: ACCOUNT, accountKey: ACCOUNT_KEY },
  DOCUMENT360: { accountEmail: 'Ada@harbour.example', accessToken: DOCUMENT360_TOKEN },
  FRESHDESK: { domain: FRESHDESK_DOMAIN, apiKey: FRESHDESK_KEY },
  GITBOOK: { organization: 'harbour-org', accessToken: GITBOOK_TOKEN },
  GITHUB: { username: LOGIN, accessToken: GITHUB_TOKEN },
  GURU: { username: USERNAME, accessToken: GURU_TOKEN },
  S3: { accessKey: ACCESS_KEY, accessKeySecret: ACCESS_KEY_SECRET, endpointUrl: null },
};

/** Parameters of OAuth connections, as connectors expect them. A service gets them from the caller of the API. */
export const CONNECTION_PARAMETERS: Partial<Readonly<Record<ConnectedSourceType, Readonly<Record<string, string>>>>> = {
  CONFLUENCE: { subdomain: 'harbour' },
  GONG: { email: 'ada@harbour.example' },
  ONEDRIVE: { tenant: 'common' },
  OUTLOOK: { tenant: 'common' },
  SHAREPOINT: { tenant: 'harbour.example', site: 'Harbour' },
  ZENDESK: { subdomain: ZENDESK_SUBDOMAIN },
  SERVICENOW: { instance: 'harbour' },
  SALESFORCE: { domain: 'login.salesforce.com' },
};
