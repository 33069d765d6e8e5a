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
import { fetchUrlsOfPage, fetchWebpage } from './web/fetchUrls.js';
import { processSitemap } from './web/processSitemap.js';
import { rssFeed } from './web/rssFeed.js';
import { scrapeSitemap } from './web/scrapeSitemap.js';
import { userWebpages } from './web/userWebpages.js';
import { webScrape } from './web/webScrape.js';

/** Every operation on one line. */
export const builtOperations: readonly Operation[] = [
  accessToken,
  scrapeSitemap,
  processSitemap,
  webScrape,
  userWebpages,
  fetchUrlsOfPage,
  fetchWebpage,
  rssFeed,
  userFilesV2,
  resyncFile,
  deleteFilesV2,
  cancelSync,
  listChunks,
  embeddings,
  content,
  health,
  ready,
];

export const operations: readonly Operation[] = [...builtOperations, ...notBuiltOperations];
