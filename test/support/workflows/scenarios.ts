/** Scenarios that cover every workflow and each of its steps. */
import type { Activities } from '../../../activities/index.js';
import type { RunKind } from '../../../contract/runs/runKinds.js';

export type Step = keyof Activities;
export type FaultTime = 'before' | 'after';
/** A kind of run, or `drainUploads`, the workflow that ingests the uploads of one user. */
export type Workflow = RunKind | 'drainUploads';

/** A fault at the first call of a step, before or after the work of the step. */
export interface InjectedFault {
  readonly step: Step;
  /** `fail`: the step fails once and can be retried. `break`: it fails permanently. `cancel`: its run is cancelled. */
  readonly does: 'fail' | 'break' | 'cancel';
  readonly when: FaultTime;
  /** Whether the step waits until it has received the cancellation. Without this, a short step would end first. */
  readonly isDelivered?: true;
}

/** A scenario of a workflow. everyWorkflow.test.ts fails for a step that no scenario of its workflow lists. */
export interface Scenario {
  readonly workflow: Workflow;
  readonly steps: readonly Step[];
  /** Steps that a scenario of another workflow tests, because that workflow calls them in the same manner. */
  readonly testedElsewhere?: readonly Step[];
  /** Faults that lead the workflow into this scenario. */
  readonly faults?: readonly InjectedFault[];
  /**
   * Path of the first page, name of the upload, 'hot' (a move to hot storage), or one of the `start` values below.
   * Default: the usual start of the workflow.
   */
  readonly start?: string;
  /** The outcome of the uninterrupted run. Default: finished. */
  readonly outcome?: 'failed' | 'aborted';
}

export const CANCELLED: InjectedFault = { step: 'ingestBatch', does: 'cancel', when: 'before' };
/** `start` value: the source rejects the account's credentials. */
export const REVOKED = 'revoked';
/** `start` value: the user returns from the provider with an invalid code. */
export const REFUSED = 'refused';
/** `start` value: the run reaches its token limit and is then resumed. */
export const PAUSED = 'paused';
/** `start` value: a scheduled sync that no longer finds a page of an earlier run. */
export const PAGE_MISSING = 'page-missing';
/** `start` value: the quarantine period has ended. */
export const QUARANTINE_ENDED = 'quarantine-ended';
const BROKEN: InjectedFault = { step: 'ingestBatch', does: 'break', when: 'before' };
export const SCENARIOS: Readonly<Record<string, Scenario>> = {
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
  'cancelled scrape': { workflow: 'scrapeSitemap', outcome: 'aborted', steps: ['abortRun'], faults: [CANCELLED] },
  'paused scrape': { workflow: 'scrapeSitemap', steps: ['getPauseState'], start: PAUSED },
  'scheduled sync of a scrape': { workflow: 'scrapeSitemap', steps: ['deleteGonePages'], start: PAGE_MISSING },
  crawl: { workflow: 'webScrape', steps: ['beginRun', 'followLinks', 'planBatches', 'ingestBatch', 'finishRun'] },
  'crawl from a missing page': { workflow: 'webScrape', outcome: 'failed', steps: ['failRun'], start: '/missing.html' },
  'cancelled crawl': { workflow: 'webScrape', outcome: 'aborted', steps: ['abortRun'], faults: [CANCELLED] },
  feed: {
    workflow: 'syncFeed',
    steps: ['discoverEntries'],
    testedElsewhere: ['beginRun', 'planBatches', 'ingestBatch', 'finishRun', 'abortRun'],
  },
  upload: { workflow: 'drainUploads', steps: ['planUploads', 'ingestUploads'] },
  'broken upload': {
    workflow: 'drainUploads',
    outcome: 'failed',
    steps: ['failUploads'],
    faults: [{ step: 'ingestUploads', does: 'break', when: 'before' }],
  },
  'cancelled upload': {
    workflow: 'drainUploads',
    outcome: 'aborted',
    steps: ['abortUploads'],
    faults: [{ step: 'ingestUploads', does: 'cancel', when: 'before', isDelivered: true }],
  },
  recording: {
    workflow: 'syncUpload',
    steps: ['transcribe'],
    testedElsewhere: ['beginRun', 'planBatches', 'ingestBatch', 'finishRun', 'abortRun'],
    start: 'talk.mp3',
  },
  picture: { workflow: 'syncUpload', steps: ['recognize'], start: 'lit.png' },
  resync: { workflow: 'resyncFile', steps: ['beginRun', 'planBatches', 'ingestBatch', 'finishRun'] },
  'broken resync': { workflow: 'resyncFile', outcome: 'failed', steps: ['failRun'], faults: [BROKEN] },
  'cancelled resync': { workflow: 'resyncFile', outcome: 'aborted', steps: ['abortRun'], faults: [CANCELLED] },
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
    testedElsewhere: ['planBatches', 'ingestBatch'],
  },
  'sync of a revoked account': { workflow: 'syncSource', outcome: 'failed', steps: ['failRun'], start: REVOKED },
  'cancelled sync of an account': {
    workflow: 'syncSource',
    outcome: 'aborted',
    steps: ['abortRun'],
    faults: [CANCELLED],
  },
  'scheduled sync': { workflow: 'autoSync', steps: ['nextPart', 'endPass'], testedElsewhere: ['acceptPass'] },
  delete: { workflow: 'deleteFiles', steps: ['stopQueued', 'deleteBatch', 'finishDelete'] },
  'delete of a user': {
    workflow: 'deleteUser',
    steps: ['removeSchedules', 'stopUserRuns', 'eraseFiles', 'finishUserDelete'],
  },
  'cancelled delete of a user': {
    workflow: 'deleteUser',
    outcome: 'aborted',
    steps: ['stopUserDelete'],
    faults: [{ step: 'eraseFiles', does: 'cancel', when: 'before' }],
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
  'end of quarantine': {
    workflow: 'settleQuarantine',
    steps: ['settleBatch', 'finishQuarantine'],
    start: QUARANTINE_ENDED,
  },
  'tags of a source': { workflow: 'updateTags', steps: ['copyTags', 'finishTags'] },
};

/** Workflows without a scenario here, because tests of their own cover them. */
export const TESTED_ELSEWHERE = ['deliverEvents'];

/** Workflows whose scenarios leave the customer without files. */
export const WITHOUT_FILES: readonly Workflow[] = ['connectByConsent', 'syncItems'];
