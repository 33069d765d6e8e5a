/** The kinds of accepted work; each is the name of its workflow. */
export const RUN_KINDS = [
  'scrapeSitemap',
  'webScrape',
  'syncFeed',
  'syncUpload',
  'connectByConsent',
  'syncItems',
  'syncSource',
  'resyncFile',
  'deleteFiles',
  'deleteUser',
  'recountFiles',
  'updateTags',
  'reembedFiles',
  'moveStorage',
  'settleQuarantine',
  'autoSync',
] as const;

export type RunKind = (typeof RUN_KINDS)[number];

/** The kinds that find files and ingest them below a container. */
export type ContainerRunKind = Extract<RunKind, 'scrapeSitemap' | 'webScrape' | 'syncFeed'>;

/**
 * Whether a run ingests the files of one request: an upload, a scrape, a feed, or items of an account. Its end is
 * reported by the event ALL_FILES_PROCESSED, unless it is part of a scheduled sync.
 */
export const IS_UPLOAD: Readonly<Record<RunKind, boolean>> = {
  scrapeSitemap: true,
  syncUpload: true,
  connectByConsent: false,
  syncItems: false,
  syncSource: true,
  resyncFile: false,
  webScrape: true,
  syncFeed: true,
  deleteFiles: false,
  deleteUser: false,
  recountFiles: false,
  updateTags: false,
  reembedFiles: false,
  moveStorage: false,
  settleQuarantine: false,
  // Its end is an event only if it has synced files: see `finish` in store/runs/outbox.ts.
  autoSync: false,
};

/**
 * Kinds whose work no other run repeats. If such a run was terminated outside of this service, its work is accepted
 * again, at most MAX_RUN_RESTARTS times.
 */
export const RESTARTED_KINDS: readonly RunKind[] = ['updateTags', 'recountFiles', 'moveStorage', 'settleQuarantine'];

export const MAX_RUN_RESTARTS = 3;
