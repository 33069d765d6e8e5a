/** Every setting of the service, one row each: schema, default and description. readSettings.ts validates with it. */
import { ACCOUNTS_SETTINGS } from './settings/accounts.js';
import { DOCUMENTS_SETTINGS } from './settings/documents.js';
import { EMBEDDINGS_SETTINGS } from './settings/embeddings.js';
import { PROVIDERS_SETTINGS } from './settings/providers.js';
import { REQUESTS_SETTINGS } from './settings/requests.js';
import { SERVICE_SETTINGS } from './settings/service.js';
import { STORES_SETTINGS } from './settings/stores.js';
import { WEB_SETTINGS } from './settings/web.js';
import { WORK_SETTINGS } from './settings/work.js';
import type { Setting } from './settings/rules.js';

/** In the order of docs/settings.md. */
export const SETTINGS = {
  ...SERVICE_SETTINGS,
  ...STORES_SETTINGS,
  ...WEB_SETTINGS,
  ...DOCUMENTS_SETTINGS,
  ...EMBEDDINGS_SETTINGS,
  ...ACCOUNTS_SETTINGS,
  ...PROVIDERS_SETTINGS,
  ...WORK_SETTINGS,
  ...REQUESTS_SETTINGS,
} as const satisfies Record<string, Setting>;
