/** The registration: every workflow the worker knows. The name of the export is the workflow's type. */
export { autoSync } from './autoSync.js';
export { connectByConsent } from './connectByConsent.js';
export { deleteFiles } from './deleteFiles.js';
export { deliverEvents } from './deliverEvents.js';
export { deleteUser } from './deleteUser.js';
export { moveStorage } from './moveStorage.js';
export { recountFiles } from './recountFiles.js';
export { reembedFiles } from './reembedFiles.js';
export { resyncFile } from './resyncFile.js';
export { scrapeSitemap } from './scrapeSitemap.js';
export { settleQuarantine } from './settleQuarantine.js';
export { syncFeed } from './syncFeed.js';
export { syncItems } from './syncItems.js';
export { syncSource } from './syncSource.js';
export { syncUpload } from './syncUpload.js';
export { updateTags } from './updateTags.js';
export { webScrape } from './webScrape.js';
