/**
 * The names of our work in Temporal: task queues, keys of workflows and schedules, search attributes, fairness keys.
 */
import type { ContainerRunKind } from './runKinds.js';

/** Default of the setting TASK_QUEUE. The queue in Temporal also contains the deployment id. */
export const TASK_QUEUE = 'allotrope';

/** Search attributes (all Keyword) under which operators find a run in Temporal's Web UI. */
export const SEARCH_ATTRIBUTES = ['OrganizationId', 'UserId', 'DataSourceId', 'FileId', 'RequestId'] as const;

export type SearchAttributeName = (typeof SEARCH_ATTRIBUTES)[number];

/**
 * Keys of workflows. All are built here, so that a repeated request finds the running workflow. Records store keys; the
 * id in Temporal is the key with the deployment id as prefix (`temporalNames`).
 */
export const workflowIds = {
  scrape: (parentFileId: number): string => `scrape:${parentFileId}`,
  feed: (parentFileId: number): string => `feed:${parentFileId}`,
  upload: (fileId: number): string => `upload:${fileId}`,
  uploads: (userId: number): string => `uploads:${userId}`,
  connect: (runId: number): string => `connect:${runId}`,
  syncItems: (dataSourceId: number): string => `sync-items:${dataSourceId}`,
  syncSource: (runId: number): string => `sync-source:${runId}`,
  resync: (fileId: number): string => `resync:${fileId}`,
  retry: (runId: number): string => `retry:${runId}`,
  updateTags: (dataSourceId: number): string => `update-tags:${dataSourceId}`,
  updateFileTags: (fileId: number): string => `update-file-tags:${fileId}`,
  delete: (runId: number): string => `delete:${runId}`,
  deliverEvents: (webhookId: number): string => `deliver-events:${webhookId}`,
  deleteUser: (userId: number): string => `delete-user:${userId}`,
  moveToCold: (userId: number): string => `move-to-cold:${userId}`,
  moveToHot: (runId: number): string => `move-to-hot:${runId}`,
  modifyStorage: (runId: number): string => `modify-storage:${runId}`,
  eraseQuarantine: (userId: number): string => `erase-quarantine:${userId}`,
  restore: (runId: number): string => `restore:${runId}`,
  recount: (organizationId: number): string => `recount:${organizationId}`,
  reembed: (runId: number): string => `reembed:${runId}`,
};

/** Keys of schedules; they are prefixes of the keys of the workflows that the schedules start. */
export const scheduleIds = {
  source: (dataSourceId: number): string => `auto-sync:${dataSourceId}`,
  container: (fileId: number): string => `auto-scrape:${fileId}`,
};

/** Workflow keys of a container's runs, by kind. A file has one kind, so both scrapes can share a prefix. */
export const CONTAINER_WORKFLOW_IDS: Readonly<Record<ContainerRunKind, (containerId: number) => string>> = {
  scrapeSitemap: workflowIds.scrape,
  webScrape: workflowIds.scrape,
  syncFeed: workflowIds.feed,
};

/** Fairness keys: Temporal serves the keys of a task queue in turn. */
export const fairnessKeys = {
  work: (organizationId: number | string, userId: number | string): string => `${organizationId}:${userId}`,
  deletes: (organizationId: number, userId: number): string => `${organizationId}:${userId}:deletes`,
};

/** The header of workflows and activities with the trace context, named as in Temporal's SDKs. */
export const TRACE_HEADER = '_tracer-data';

/**
 * Returns the task queue of transcriptions, which is separate so that activities that wait for the transcription
 * service do not occupy slots of the activities that read files.
 */
export const transcriptionQueue = (taskQueue: string): string => `${taskQueue}-transcriptions`;

/** Returns the task queue of deliveries, which is separate so that deliveries and ingests do not delay each other. */
export const deliveryQueue = (taskQueue: string): string => `${taskQueue}-webhooks`;

/** Returns the task queue of OCR, which is separate so that files with text never wait for OCR. */
export const ocrQueue = (taskQueue: string): string => `${taskQueue}-ocr`;
