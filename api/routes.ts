import { accessToken } from './auth/accessToken.js';
import { embeddings } from './chunks/embeddings.js';
import { listChunks } from './chunks/listChunks.js';
import { uploadChunks } from './chunks/uploadChunks.js';
import { textChunks } from './chunks/textChunks.js';
import { diagnosis } from './dataSources/diagnosis/diagnosis.js';
import { approvePageDeletions, listHeldScrapes, refusePageDeletions } from './files/heldDeletions.js';
import { quarantinedFiles, restoreQuarantined } from './files/quarantine.js';
import { approveDeletions, heldDeletions, refuseDeletions } from './dataSources/heldDeletions.js';
import { dataSources, integrations, userDataSources } from './dataSources/list.js';
import { revokeAccessToken } from './dataSources/revoke.js';
import { addDataSourceTags, removeDataSourceTags } from './dataSources/tags.js';
import { cancelSync } from './files/cancelSync.js';
import { content } from './files/content.js';
import { modifyColdStorageParameters, moveToHotStorage } from './files/coldStorage.js';
import { deleteFile, deleteFiles, deleteFilesV2 } from './files/deleteFiles.js';
import { cancelReembed, reembed, reembedProgress } from './files/reembed.js';
import { resyncFile } from './files/resyncFile.js';
import { parsedFile, rawFile } from './files/storedFile.js';
import { uploadFile } from './files/uploadFile.js';
import { uploadFileFromUrl } from './files/uploadFileFromUrl.js';
import { uploadText } from './files/uploadText.js';
import { createFileTags, deleteFileTags } from './files/tags.js';
import { userFiles, userFilesV2 } from './files/userFiles.js';
import { health, ready } from './health/health.js';
import { connect } from './integrations/connect.js';
import { callbacks } from './integrations/consent/callback.js';
import { connectionPage, decideOnConnection } from './integrations/consent/connectionPage.js';
import { oauthUrl } from './integrations/consent/oauthUrl.js';
import { connectAzure } from './integrations/azureBlobStorage/connect.js';
import { syncAzureFiles } from './integrations/azureBlobStorage/files.js';
import { listConfluence } from './integrations/confluence/list.js';
import { syncConfluence } from './integrations/confluence/sync.js';
import { connectDocument360 } from './integrations/document360/connect.js';
import { connectGitBook } from './integrations/gitbook/connect.js';
import { gitBookSpaces } from './integrations/gitbook/spaces.js';
import { syncGitBook } from './integrations/gitbook/sync.js';
import { connectFreshdesk } from './integrations/freshdesk/connect.js';
import { connectGitHub } from './integrations/github/connect.js';
import { gitHubLiveReads } from './integrations/github/liveReads.js';
import { gitHubRepos } from './integrations/github/repos.js';
import { syncGitHubRepos } from './integrations/github/syncRepos.js';
import { syncGmail } from './integrations/gmail/sync.js';
import { gmailLabels } from './integrations/gmail/userLabels.js';
import { connectGuru } from './integrations/guru/connect.js';
import { listItems } from './integrations/listItems.js';
import { outlookCategories } from './integrations/outlook/categories.js';
import { outlookFolders } from './integrations/outlook/folders.js';
import { syncOutlook } from './integrations/outlook/sync.js';
import { connectS3 } from './integrations/s3/connect.js';
import { syncS3Files } from './integrations/s3/files.js';
import { crmOperations } from './integrations/salesforce/crm.js';
import { sharePointSites } from './integrations/sharePoint/sites.js';
import { slackConversations } from './integrations/slack/conversations.js';
import { syncSlack } from './integrations/slack/sync.js';
import { syncFiles } from './integrations/syncFiles.js';
import { cancelItemsSync, syncItems } from './integrations/syncItems.js';
import { listSyncRunItems } from './syncRuns/items.js';
import { getSyncRun, listSyncRuns } from './syncRuns/list.js';
import { retrySyncRun } from './syncRuns/retry.js';
import type { DocumentedOperation, Operation } from './http/operation.js';
import { resumeRun } from './syncRuns/resume.js';
import { opsFiles } from './ops/files.js';
import { ops, opsEvents } from './ops/ops.js';
import { signIn, signOut } from './ops/signIn.js';
import { addWebhook } from './webhooks/addWebhook.js';
import { deleteWebhook } from './webhooks/deleteWebhook.js';
import { listDeliveries } from './webhooks/listDeliveries.js';
import { streamEvents } from './eventStreams/streamEvents.js';
import { streamRun } from './eventStreams/streamRun.js';
import { listEvents } from './webhooks/listEvents.js';
import { listWebhooks } from './webhooks/listWebhooks.js';
import { redeliver } from './webhooks/redeliver.js';
import { fetchUrlsOfPage, fetchWebpage } from './web/fetchUrls.js';
import { fetchYoutubeTranscript } from './web/fetchYoutubeTranscript.js';
import { models } from './organization/models.js';
import { organization } from './organization/organization.js';
import { updateOrganization } from './organization/updateOrganization.js';
import { organizationStatistics } from './organization/statistics.js';
import { deleteUsers } from './users/deleteUsers.js';
import { listUsers } from './users/listUsers.js';
import { modifyConfiguration } from './users/modifyConfiguration.js';
import { updateUsers } from './users/updateUsers.js';
import { user, whoami } from './users/wholeUser.js';
import { createWhiteLabels, deleteWhiteLabels, updateWhiteLabel } from './whiteLabel/change.js';
import { listWhiteLabels } from './whiteLabel/list.js';
import { whiteLabeling } from './whiteLabel/whiteLabeling.js';
import { processSitemap } from './web/processSitemap.js';
import { rssFeed } from './web/rssFeed.js';
import { scrapeSitemap } from './web/scrapeSitemap.js';
import { searchUrls } from './web/searchUrls.js';
import { userWebpages } from './web/userWebpages.js';
import { webScrape } from './web/webScrape.js';

/** Every operation, one per line. */
export const operations: readonly DocumentedOperation[] = [
  accessToken,
  scrapeSitemap,
  processSitemap,
  webScrape,
  userWebpages,
  fetchUrlsOfPage,
  fetchWebpage,
  searchUrls,
  fetchYoutubeTranscript,
  rssFeed,
  uploadFile,
  uploadFileFromUrl,
  uploadText,
  uploadChunks,
  userFilesV2,
  userFiles,
  rawFile,
  parsedFile,
  createFileTags,
  deleteFileTags,
  resyncFile,
  deleteFilesV2,
  moveToHotStorage,
  modifyColdStorageParameters,
  deleteFiles,
  deleteFile,
  cancelSync,
  resumeRun,
  reembed,
  reembedProgress,
  cancelReembed,
  listChunks,
  textChunks,
  userDataSources,
  dataSources,
  heldDeletions,
  approveDeletions,
  refuseDeletions,
  diagnosis,
  listHeldScrapes,
  approvePageDeletions,
  refusePageDeletions,
  quarantinedFiles,
  restoreQuarantined,
  integrations,
  addDataSourceTags,
  removeDataSourceTags,
  revokeAccessToken,
  oauthUrl,
  connect,
  connectDocument360,
  connectGitBook,
  connectGuru,
  gitBookSpaces,
  syncGitBook,
  connectS3,
  syncS3Files,
  connectAzure,
  syncAzureFiles,
  listConfluence,
  syncConfluence,
  slackConversations,
  ...crmOperations,
  syncSlack,
  connectGitHub,
  connectFreshdesk,
  gitHubRepos,
  ...gitHubLiveReads,
  syncGitHubRepos,
  syncOutlook,
  outlookFolders,
  outlookCategories,
  sharePointSites,
  syncGmail,
  gmailLabels,
  listItems,
  syncItems,
  cancelItemsSync,
  syncFiles,
  embeddings,
  listSyncRuns,
  getSyncRun,
  streamRun,
  listSyncRunItems,
  retrySyncRun,
  addWebhook,
  listWebhooks,
  deleteWebhook,
  listDeliveries,
  redeliver,
  listEvents,
  streamEvents,
  listUsers,
  user,
  whoami,
  updateUsers,
  deleteUsers,
  modifyConfiguration,
  models,
  organization,
  updateOrganization,
  organizationStatistics,
  whiteLabeling,
  createWhiteLabels,
  listWhiteLabels,
  updateWhiteLabel,
  deleteWhiteLabels,
  content,
  health,
  ready,
];

/** Pages for browsers. They are not part of the OpenAPI document. */
export const pages: readonly Operation[] = [
  ...callbacks,
  connectionPage,
  decideOnConnection,
  ops,
  opsEvents,
  opsFiles,
  signIn,
  signOut,
];
