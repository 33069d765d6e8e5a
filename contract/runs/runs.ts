/** The request and the progress of each kind of run. */
import type { AutoSyncProgress, AutoSyncRequest } from '../sources/autoSync.js';
import type { MoveProgress, MoveRequest } from '../files/coldStorage.js';
import type {
  SyncItemsProgress,
  SyncItemsRequest,
  SyncSourceProgress,
  SyncSourceRequest,
} from '../accounts/connections.js';
import type { DeleteFilesProgress, DeleteFilesRequest } from '../files/deleteFiles.js';
import type { SyncFeedProgress, SyncFeedRequest } from './feeds.js';
import type { RunKind } from './runKinds.js';
import type { QuarantineRequest } from '../files/quarantine.js';
import type { ReembedRequest } from './reembed.js';
import type { ScrapeSitemapProgress, ScrapeSitemapRequest } from './scrapeSitemap.js';
import type { WebScrapeProgress, WebScrapeRequest } from './webScrape.js';

/** The request of a kind that needs only the ids in the run's row. */
type Nothing = Readonly<Record<never, never>>;

/**
 * Request and progress of each kind in RUN_KINDS. The request never changes; the run updates its progress.
 */
interface Shapes {
  scrapeSitemap: { request: ScrapeSitemapRequest; progress: ScrapeSitemapProgress };
  webScrape: { request: WebScrapeRequest; progress: WebScrapeProgress };
  syncFeed: { request: SyncFeedRequest; progress: SyncFeedProgress };
  syncUpload: { request: Nothing; progress: Nothing };
  connectByConsent: { request: Nothing; progress: Nothing };
  syncItems: { request: SyncItemsRequest; progress: SyncItemsProgress };
  syncSource: { request: SyncSourceRequest; progress: SyncSourceProgress };
  resyncFile: { request: { readonly retryOf?: number }; progress: Nothing };
  deleteFiles: { request: DeleteFilesRequest; progress: DeleteFilesProgress };
  deleteUser: { request: Nothing; progress: Nothing };
  recountFiles: { request: Nothing; progress: Nothing };
  updateTags: { request: Nothing; progress: Nothing };
  reembedFiles: { request: ReembedRequest; progress: Nothing };
  moveStorage: { request: MoveRequest; progress: MoveProgress };
  settleQuarantine: { request: QuarantineRequest; progress: Nothing };
  autoSync: { request: AutoSyncRequest; progress: AutoSyncProgress };
}

export type RunProgressOf<K extends RunKind> = Shapes[K]['progress'];

/** The kind of a run with its request and progress: narrow it by `kind`. */
export type RunWork<K extends RunKind = RunKind> = {
  [Each in K]: {
    readonly kind: Each;
    readonly request: Shapes[Each]['request'];
    readonly progress: Shapes[Each]['progress'];
  };
}[K];

/** A field that is optional if its type has no required field. */
type OptionalIfEmpty<Name extends string, T> = Nothing extends T
  ? { readonly [N in Name]?: T }
  : { readonly [N in Name]: T };

/** The work of a run that is accepted next. */
export type NewWork<K extends RunKind = RunKind> = {
  [Each in K]: { readonly kind: Each } & OptionalIfEmpty<'request', Shapes[Each]['request']> &
    OptionalIfEmpty<'progress', Shapes[Each]['progress']>;
}[K];

/** Returns whether a run is of one of these kinds. */
export const isRunOf = <R extends { readonly kind: RunKind }, K extends RunKind>(
  run: R,
  ...kinds: readonly K[]
): run is Extract<R, { readonly kind: K }> => kinds.some((kind) => kind === run.kind);

/** Narrows a run to its kind. @throws TypeError for a run of another kind, which is a bug in the caller */
export function runOfKind<R extends { readonly _id: number; readonly kind: RunKind }, K extends RunKind>(
  run: R,
  kind: K,
): Extract<R, { readonly kind: K }> {
  if (!isRunOf(run, kind)) throw new TypeError(`Run ${run._id} is a run of ${run.kind}, not of ${kind}`);
  return run;
}

/**
 * Returns the work of a run, to accept it again. The cast is needed because TypeScript does not relate the fields of a
 * copied union.
 */
export const workOf = ({ kind, request, progress }: RunWork): NewWork => ({ kind, request, progress }) as NewWork;
