import { accessToken } from './auth/accessToken.js';
import { embeddings } from './chunks/embeddings.js';
import { listChunks } from './chunks/listChunks.js';
import { cancelSync } from './files/cancelSync.js';
import { content } from './files/content.js';
import { deleteFilesV2 } from './files/deleteFiles.js';
import { resyncFile } from './files/resyncFile.js';
import { userFilesV2 } from './files/userFiles.js';
import { health, ready } from './health/health.js';
import type { Operation } from './http/operation.js';
import { notBuiltOperations } from './notBuilt.js';
import { addWebhook } from './webhooks/addWebhook.js';
import { deleteWebhook } from './webhooks/deleteWebhook.js';
import { listDeliveries } from './webhooks/listDeliveries.js';
import { listEvents } from './webhooks/listEvents.js';
import { listWebhooks } from './webhooks/listWebhooks.js';
import { redeliver } from './webhooks/redeliver.js';
import { processSitemap } from './web/processSitemap.js';
import { scrapeSitemap } from './web/scrapeSitemap.js';

/** Every operation on one line. */
export const builtOperations: readonly Operation[] = [
  accessToken,
  scrapeSitemap,
  processSitemap,
  userFilesV2,
  resyncFile,
  deleteFilesV2,
  cancelSync,
  listChunks,
  embeddings,
  addWebhook,
  listWebhooks,
  deleteWebhook,
  listDeliveries,
  redeliver,
  listEvents,
  content,
  health,
  ready,
];

export const operations: readonly Operation[] = [...builtOperations, ...notBuiltOperations];
