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
import { organization } from './organization/organization.js';
import { updateOrganization } from './organization/updateOrganization.js';
import { listUsers } from './users/listUsers.js';
import { modifyConfiguration } from './users/modifyConfiguration.js';
import { updateUsers } from './users/updateUsers.js';
import { user, whoami } from './users/wholeUser.js';
import { createWhiteLabels, deleteWhiteLabels, updateWhiteLabel } from './whiteLabel/change.js';
import { listWhiteLabels } from './whiteLabel/list.js';
import { whiteLabeling } from './whiteLabel/whiteLabeling.js';
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
  listUsers,
  user,
  whoami,
  updateUsers,
  modifyConfiguration,
  organization,
  updateOrganization,
  whiteLabeling,
  createWhiteLabels,
  listWhiteLabels,
  updateWhiteLabel,
  deleteWhiteLabels,
  content,
  health,
  ready,
];

export const operations: readonly Operation[] = [...builtOperations, ...notBuiltOperations];
