/** Every workflow and every step of it, as ways that end users take. */
import type { Activities } from '../../../activities/index.js';
import type { RunKind } from '../../../contract/orchestration.js';

export type Step = keyof Activities;
export type Moment = 'before' | 'after';
/** A kind of run, or the stream that brings in many runs. */
export type Workflow = RunKind | 'drainUploads';

/**
 * What happens at a step's first call, before its work or after it: it fails, as it does when a store is away; it meets
 * a defect that no retry mends; or its run is cancelled.
 */
export interface Mishap {
  readonly step: Step;
  readonly does: 'fail' | 'break' | 'cancel';
  readonly when: Moment;
  /** The step continues once the cancellation has reached it: a small step would end before. */
  readonly isDelivered?: true;
}

/** A way through a workflow. A step that no row of its workflow has fails the last test. */
export interface Way {
  readonly workflow: Workflow;
  readonly steps: readonly Step[];
  /** Steps that are called in the same way by another workflow, and tried there. */
  readonly alike?: readonly Step[];
  /** What has to happen for the workflow to take this way. */
  readonly given?: readonly Mishap[];
  /** The path it begins with; of an upload, its name. */
  readonly start?: string;
  /** Of its run, undisturbed; by default it is finished. */
  readonly outcome?: 'failed' | 'aborted';
}

export const CANCELLED: Mishap = { step: 'ingestBatch', does: 'cancel', when: 'before' };
/** What the account of a way is that its source takes no more. */
export const REVOKED = 'revoked';
/** That its person comes back with what is no code. */
export const REFUSED = 'refused';
/** That it comes to its bound of tokens, and is then told to go on. */
export const PAUSED = 'paused';
/** That it is a pass, which misses a page of an earlier one. */
export const PASSED = 'passed';
/** That its time is up. */
export const ERASED = 'erased';
const BROKEN: Mishap = { step: 'ingestBatch', does: 'break', when: 'before' };
export const WAYS: Readonly<Record<string, Way>> = {
  scrape: {
    workflow: 'scrapeSitemap',
    steps: ['beginRun', 'discoverPages', 'planBatches', 'ingestBatch', 'finishRun'],
  },
  'scrape without a sitemap': {
    workflow: 'scrapeSitemap',
    outcome: 'failed',
    steps: ['failRun'],
    start: '/missing.xml',
  },
  'cancelled scrape': { workflow: 'scrapeSitemap', outcome: 'aborted', steps: ['abortRun'], given: [CANCELLED] },
  'paused scrape': { workflow: 'scrapeSitemap', steps: ['getPauseState'], start: PAUSED },
  'pass of a scrape': { workflow: 'scrapeSitemap', steps: ['deleteGonePages'], start: PASSED },
  crawl: { workflow: 'webScrape', steps: ['beginRun', 'followLinks', 'planBatches', 'ingestBatch', 'finishRun'] },
  'crawl from a missing page': { workflow: 'webScrape', outcome: 'failed', steps: ['failRun'], start: '/missing.html' },
  'cancelled crawl': { workflow: 'webScrape', outcome: 'aborted', steps: ['abortRun'], given: [CANCELLED] },
  feed: {
    workflow: 'syncFeed',
    steps: ['discoverEntries'],
    alike: ['beginRun', 'planBatches', 'ingestBatch', 'finishRun', 'abortRun'],
  },
  upload: { workflow: 'drainUploads', steps: ['planUploads', 'ingestUploads'] },
  'broken upload': {
    workflow: 'drainUploads',
    outcome: 'failed',
    steps: ['failUploads'],
    given: [{ step: 'ingestUploads', does: 'break', when: 'before' }],
  },
  'cancelled upload': {
    workflow: 'drainUploads',
    outcome: 'aborted',
    steps: ['abortUploads'],
    given: [{ step: 'ingestUploads', does: 'cancel', when: 'before', isDelivered: true }],
  },
  recording: {
    workflow: 'syncUpload',
    steps: ['transcribe'],
    alike: ['beginRun', 'planBatches', 'ingestBatch', 'finishRun', 'abortRun'],
    start: 'talk.mp3',
  },
  picture: { workflow: 'syncUpload', steps: ['recognize'], start: 'lit.png' },
  resync: { workflow: 'resyncFile', steps: ['beginRun', 'planBatches', 'ingestBatch', 'finishRun'] },
  'broken resync': { workflow: 'resyncFile', outcome: 'failed', steps: ['failRun'], given: [BROKEN] },
  'cancelled resync': { workflow: 'resyncFile', outcome: 'aborted', steps: ['abortRun'], given: [CANCELLED] },
  'connection by consent': {
    workflow: 'connectByConsent',
    steps: ['getConnectionState', 'exchangeCode', 'recordConnection'],
  },
  'refused connection': { workflow: 'connectByConsent', outcome: 'failed', steps: ['endConnection'], start: REFUSED },
  'listing of an account': {
    workflow: 'syncItems',
    steps: ['beginListing', 'listItems', 'deleteMissingFiles', 'endListing'],
  },
  'sync of an account': {
    workflow: 'syncSource',
    steps: ['beginRun', 'queueItems', 'finishRun'],
    alike: ['planBatches', 'ingestBatch'],
  },
  'sync of a revoked account': { workflow: 'syncSource', outcome: 'failed', steps: ['failRun'], start: REVOKED },
  'cancelled sync of an account': {
    workflow: 'syncSource',
    outcome: 'aborted',
    steps: ['abortRun'],
    given: [CANCELLED],
  },
  'pass of auto-sync': { workflow: 'autoSync', steps: ['nextPart', 'endPass'], alike: ['acceptPass'] },
  delete: { workflow: 'deleteFiles', steps: ['stopQueued', 'deleteBatch', 'finishDelete'] },
  'delete of a user': {
    workflow: 'deleteUser',
    steps: ['removeSchedules', 'stopUserRuns', 'eraseFiles', 'finishUserDelete'],
  },
  'cancelled delete of a user': {
    workflow: 'deleteUser',
    outcome: 'aborted',
    steps: ['stopUserDelete'],
    given: [{ step: 'eraseFiles', does: 'cancel', when: 'before' }],
  },
  recount: { workflow: 'recountFiles', steps: ['sumFiles', 'finishRecount'] },
  reembed: { workflow: 'reembedFiles', steps: ['planReembed', 'reembedBatch', 'finishReembed'] },
  'move to cold storage': { workflow: 'moveStorage', steps: ['planMove', 'moveBatch', 'finishMove'] },
  'move to hot storage': {
    workflow: 'moveStorage',
    steps: ['planMove', 'moveBatch', 'finishMove'],
    start: 'hot',
  },
  'return from quarantine': { workflow: 'settleQuarantine', steps: ['settleBatch', 'finishQuarantine'] },
  'end of quarantine': { workflow: 'settleQuarantine', steps: ['settleBatch', 'finishQuarantine'], start: ERASED },
  'tags of a source': { workflow: 'updateTags', steps: ['copyTags', 'finishTags'] },
};

/** Workflows that are no runs have tests of their own. */
export const TESTED_ELSEWHERE = ['deliverEvents'];

/** Workflows that make no file themselves. */
export const FILELESS: readonly Workflow[] = ['connectByConsent', 'syncItems'];
