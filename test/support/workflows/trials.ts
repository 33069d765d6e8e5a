import { setTimeout as sleep } from 'node:timers/promises';
import type * as sdkActivity from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pLimit from 'p-limit';

import type { Activities } from '../../../activities/index.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { coldSweepOnce } from '../../../dispatch/coldSweep.js';
import type { FileRecord } from '../../../contract/files/records.js';
import { quarantineSweepOnce } from '../../../dispatch/quarantineSweep.js';
import { fairnessKeys, scheduleIds } from '../../../contract/runs/workflowIds.js';
import type { RunDoc } from '../../../store/models/runs.js';
import { type Deepgram, startDeepgram } from '../../emulators/deepgram.js';
import { type GitBookEmulator, ORGANIZATION, startGitBook } from '../../emulators/gitbook.js';
import { type GoogleDriveEmulator, startGoogleDrive } from '../../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../../emulators/oauthProvider.js';
import { recordingOf } from '../../emulators/speech.js';
import { feedOf, linkedPage } from '../../emulators/linkedSite.js';
import { type Site, startSampleSite } from '../../emulators/site.js';
import { type StoredState, readStoredState } from '../storedState.js';
import { letDaysPass } from '../coldFiles.js';
import { answerConsent, openPage } from '../consent.js';
import { apiClient, type TestUser } from '../client.js';
import { drawPicture } from '../pictures.js';
import { adoptFiles, connectSource } from '../dataSources.js';
import { testEngines } from '../engines.js';
import { runScheduledSync } from '../scheduledSyncs.js';
import { loadProduct } from '../product.js';
import { quietTemporal } from '../quietTemporal.js';
import { startService, type TestService } from '../service.js';
import { waitFor } from '../waitFor.js';

import {
  CANCELLED,
  QUARANTINE_ENDED,
  WITHOUT_FILES,
  type InjectedFault,
  type FaultTime,
  PAGE_MISSING,
  PAUSED,
  REFUSED,
  REVOKED,
  type Step,
  type Scenario,
  SCENARIOS,
  type Workflow,
} from './scenarios.js';

/** Contents of uploads by name. */
const UPLOADS: Readonly<Record<string, () => string | Uint8Array>> = {
  'notes.md': () => '# Notes\n\nDredged in 1902.',
  'talk.mp3': () => recordingOf('talk'),
  'lit.png': () => drawPicture(['Lit in 1901.'], { width: 400, height: 100 }),
};

const PAGES = 2;
/** Milliseconds in which a cancelled workflow can react while its current step continues. */
const REACTION_MS = 700;

let service: TestService;
let site: Site;
let deepgram: Deepgram;
let gitbook: GitBookEmulator;
let drive: GoogleDriveEmulator;
let client: Client;

/** Planned faults by customer; each customer has one scenario. */
const planned = new Map<string, { workflow: Workflow; injectedFaults: InjectedFault[] }>();
/** Number of running activities by workflow id. */
const running = new Map<string, number>();
/** Workflow ids by customer and workflow type. */
const startedWorkflows = new Map<string, string>();
/** Steps that workflows have called, as `workflow: step`. */
export const called = new Set<string>();
/** The fairness keys of each workflow's executions, which its steps inherit: `work`, `deletes` or none. */
export const usedFairnessKeys = new Map<Workflow, Set<string>>();
/**
 * For each step with a heartbeat timeout: the timer interval of its heartbeats (Infinity: no timer) and the timeout, in
 * milliseconds.
 */
export const heartbeatIntervals = new Map<string, { readonly everyMs: number; readonly timeoutMs: number }>();
/** The customer of each organization. Each customer has its own, because some runs concern the whole organization. */
const customers = new Map<number, string>();

type StepInput = { readonly runId: number } | { readonly organizationId: number };

/** The service's own copy of the SDK module, which has the activity context. */
let activity: typeof sdkActivity;
/** The service's activities, without faults. */
let allActivities: Activities;

/** Returns the names of the service's activities. */
export const activityNames = (): readonly Step[] => Object.keys(allActivities) as Step[];

/** Runs an activity outside a workflow, as its first attempt. */
export async function callActivity(step: Step, input: object): Promise<unknown> {
  const info = { attempt: 1, activityType: step };
  const context = { info, cancellationSignal: new AbortController().signal } as unknown as sdkActivity.Context;
  return activity.asyncLocalStorage.run(context, () => allActivities[step](input as never));
}

const stepOf = (info: sdkActivity.Info): string => `${info.workflowType ?? ''}: ${info.activityType}`;
function recordHeartbeat(everyMs: number): void {
  const info = activity.activityInfo();
  if (!info.heartbeatTimeoutMs) return;
  const previousMs = heartbeatIntervals.get(stepOf(info))?.everyMs ?? Infinity;
  heartbeatIntervals.set(stepOf(info), { everyMs: Math.min(everyMs, previousMs), timeoutMs: info.heartbeatTimeoutMs });
}

/**
 * Records the heartbeat intervals of the steps. It patches Node's own timers, because the service does not use Jest's.
 * @returns a function that restores them
 */
function watchHeartbeats(): () => void {
  const nodeGlobal = (activity.activityInfo.constructor as FunctionConstructor)(
    'return globalThis',
  )() as typeof globalThis;
  const real = nodeGlobal.setInterval;
  const watched = (work: () => void, ms: number, ...more: []): NodeJS.Timeout => {
    if (activity.asyncLocalStorage.getStore() && String(work).includes('heartbeat')) recordHeartbeat(ms);
    return real(work, ms, ...more);
  };
  nodeGlobal.setInterval = watched as typeof setInterval;
  return () => {
    nodeGlobal.setInterval = real;
  };
}

/** Wraps the activities with the planned faults. */
function withFaults(activities: Activities): Activities {
  allActivities = activities;
  const wrap =
    (step: Step, real: (input: StepInput) => Promise<unknown>) =>
    async (input: StepInput): Promise<unknown> => {
      const { workflowType = '', workflowExecution } = activity.activityInfo();
      const workflowId = workflowExecution?.workflowId ?? '';
      called.add(`${workflowType}: ${step}`);
      recordHeartbeat(Infinity);
      const { organizationId = 0 } = 'runId' in input ? ((await service.store.runs.find(input.runId)) ?? {}) : input;
      const customerId = customers.get(organizationId) ?? '';
      startedWorkflows.set(`${customerId}: ${workflowType}`, workflowId);
      const plan = planned.get(customerId);
      const index =
        plan?.workflow === workflowType
          ? plan.injectedFaults.findIndex((injectedFault) => injectedFault.step === step)
          : -1;
      const [injectedFault] = index < 0 ? [] : (plan?.injectedFaults.splice(index, 1) ?? []);
      const happen = async (when: FaultTime): Promise<void> => {
        if (injectedFault?.when !== when) return;
        const message = `an injected fault ${when} ${step}`;
        if (injectedFault.does === 'fail') throw new Error(message);
        if (injectedFault.does === 'break') throw activity.ApplicationFailure.nonRetryable(message);
        await client.workflow.getHandle(workflowId).cancel();
        if (injectedFault.isDelivered !== true) return sleep(REACTION_MS);
        const signal = activity.cancellationSignal();
        while (!signal.aborted) {
          activity.heartbeat();
          await sleep(100);
        }
      };
      running.set(workflowId, (running.get(workflowId) ?? 0) + 1);
      try {
        await happen('before');
        const answer = await real(input);
        await happen('after');
        return answer;
      } finally {
        running.set(workflowId, (running.get(workflowId) ?? 0) - 1);
      }
    };
  return Object.fromEntries(
    Object.entries(activities).map(([step, real]) => [
      step,
      wrap(step as Step, real as (input: StepInput) => Promise<unknown>),
    ]),
  ) as unknown as Activities;
}

/** The result of a scenario. */
interface ScenarioResult {
  readonly workflowStatus: string;
  readonly outcome: RunDoc['outcome'];
  /** Number of steps still running after the workflow ended. */
  readonly running: number;
  /** Number of planned faults that were not injected. */
  readonly unusedFaults: number;
  /**
   * Statuses of the data sources of the run's organization, and of the run's container; none if the workflow is not in
   * LISTING_RUNS. They are read as soon as the workflow has ended. Later the reaper could change them: this periodic
   * task of a worker ends the records of runs whose workflow is gone.
   */
  readonly listed: { readonly sources: readonly string[]; readonly containers: readonly string[] };
}

/**
 * Runs that set a record's status to syncing while they list its contents: a data source, or the container of a site or
 * feed.
 */
const LISTING_RUNS: readonly Workflow[] = ['syncItems', 'syncSource', 'scrapeSitemap', 'webScrape', 'syncFeed'];

/** Returns the statuses of the data sources of a run's organization, and of the run's container. */
async function listedBy(run: RunDoc): Promise<ScenarioResult['listed']> {
  const { rows } = await service.store.overview.sources(run.organizationId, 10);
  const containers = run.fileId === null ? [] : await service.store.files.byIds(run, [run.fileId]);
  const statusesOf = (records: readonly { readonly syncStatus: string }[]) =>
    records.map((record) => record.syncStatus);
  return { sources: statusesOf(rows), containers: statusesOf(containers) };
}

/** The final status of a run's container by outcome. A data source is READY whenever no run lists it. */
const CONTAINER_STATUSES = { finished: 'READY', failed: 'SYNC_ERROR', aborted: 'SYNC_ABORTED' } as const;

/** Returns the run of a customer's only upload. */
async function uploadRun(customerId: string): Promise<RunDoc | null> {
  const [organizationId = 0] = [...customers].find(([, customer]) => customer === customerId) ?? [];
  const tenant = await service.store.users.ensure(organizationId, customerId);
  const [file] = await service.store.files.byIds(tenant, await service.store.files.ids(tenant, {}, 1));
  return service.store.runs.find(file?.runId ?? 0);
}

function recordFairnessKey(workflow: Workflow, { organizationId, userId }: RunDoc, key = ''): void {
  const keyName = (['work', 'deletes'] as const).find((name) => fairnessKeys[name](organizationId, userId) === key);
  usedFairnessKeys.set(workflow, (usedFairnessKeys.get(workflow) ?? new Set()).add(keyName ?? (key || 'none')));
}

async function resultOf(customerId: string, workflow: Workflow): Promise<ScenarioResult> {
  const workflowId = await waitFor(() => startedWorkflows.get(`${customerId}: ${workflow}`) ?? '', Boolean);
  const handle = client.workflow.getHandle(workflowId);
  await handle.result().catch(() => undefined);
  const stillRunning = running.get(workflowId) ?? 0;
  const { status, memo, runId, priority } = await handle.describe();
  // The memo of a workflow that a schedule or an upload stream started contains no run id.
  const withoutMemo = () =>
    workflow === 'drainUploads' ? uploadRun(customerId) : service.store.scheduledSyncs.findByTemporalRunId(runId);
  const run = memo?.['runId'] ? await service.store.runs.find(Number(memo['runId'])) : await withoutMemo();
  if (run) recordFairnessKey(workflow, run, priority?.fairnessKey);
  return {
    workflowStatus: status.name,
    outcome: run?.outcome ?? null,
    running: stillRunning,
    unusedFaults: planned.get(customerId)?.injectedFaults.length ?? 0,
    listed: run && LISTING_RUNS.includes(workflow) ? await listedBy(run) : { sources: [], containers: [] },
  };
}

/**
 * Ignores the error of a scheduled sync that ran and failed, because the scenario's result contains the failure.
 * @throws any other error: the sync may not have started
 */
function ignoreFailedSync(error: unknown): void {
  if (!(error instanceof Error && error.name === 'WorkflowFailedError')) throw error;
}

/** Resumes a scrape once it is paused. If it was cancelled before that, it has ended, and the request has no effect. */
async function resumeWhenPaused(user: TestUser, parent: FileRecord): Promise<void> {
  const tenant = { organizationId: parent.organization_id, userId: parent.organization_user_id ?? 0 };
  const [record] = await service.store.files.byIds(tenant, [parent.id]);
  const run = await waitFor(
    () => service.store.runs.find(record?.runId ?? 0),
    (current) => current?.pause !== undefined || current?.finishedAt !== null,
  );
  await user.post(`/sync_runs/${run?._id ?? 0}/resume`, { max_tokens: null });
}

/** Runs the quarantine sweep for one customer, as a worker does regularly; returns null if there is nothing to do. */
async function sweepQuarantine(customerId: string): Promise<ScenarioResult | null> {
  const { store } = service;
  const listOwnersOfDue: typeof store.quarantine.listOwnersOfDue = async (now) =>
    (await store.quarantine.listOwnersOfDue(now, 1_000)).filter((owner) => owner.customerId === customerId);
  startedWorkflows.delete(`${customerId}: settleQuarantine`);
  const runs = await quarantineSweepOnce(
    { ...store, quarantine: { ...store.quarantine, listOwnersOfDue } },
    { start: async () => undefined },
  );
  return runs === 0 ? null : resultOf(customerId, 'settleQuarantine');
}

/** Runs a scenario for a new customer, with the given faults. */
async function runScenario(
  customerId: string,
  { workflow, start }: Scenario,
  injectedFaults: readonly InjectedFault[],
) {
  const { organizationId, apiKey } = await service.store.organizations.create(customerId);
  customers.set(organizationId, customerId);
  const user = await service.user(customerId, apiKey);
  const organization = apiClient(service.url, { authorization: `Bearer ${apiKey}` });
  planned.set(customerId, { workflow, injectedFaults: [...injectedFaults] });
  if (workflow === 'moveStorage') {
    const { body } = await user.upload(
      { name: 'notes.md', content: UPLOADS['notes.md']?.() ?? '' },
      { enable_cold_storage: true, hot_storage_time_to_live: 1 },
    );
    await resultOf(customerId, 'drainUploads');
    await letDaysPass(service.env, 2, [body.id]);
    const isMine = (owner: { customerId: string }): boolean => owner.customerId === customerId;
    const { store } = service;
    const owners = async (now: Date) => (await store.moves.listOwnersOfDue(now, 1_000)).filter(isMine);
    const moveToCold = async (): Promise<ScenarioResult> => {
      expect(
        await coldSweepOnce(
          { ...store, moves: { ...store.moves, listOwnersOfDue: owners } },
          { start: async () => undefined },
        ),
      ).toBe(1);
      return resultOf(customerId, workflow);
    };
    if (start !== 'hot') return moveToCold();
    planned.delete(customerId);
    await moveToCold();
    startedWorkflows.delete(`${customerId}: ${workflow}`);
    planned.set(customerId, { workflow, injectedFaults: [...injectedFaults] });
    expect((await user.post('/move_to_hot_storage', { filters: { ids: [body.id] } })).status).toBe(200);
    return resultOf(customerId, workflow);
  }
  if (workflow === 'settleQuarantine') {
    const { body } = await user.upload({ name: 'notes.md', content: UPLOADS['notes.md']?.() ?? '' });
    await resultOf(customerId, 'drainUploads');
    const { store } = service;
    const tenant = await store.users.ensure(organizationId, customerId);
    // The state that a listing leaves if it is killed right after it moved the file into quarantine.
    const missedBy = { _id: (await store.files.byIds(tenant, [body.id]))[0]?.runId ?? 0, ...tenant } as RunDoc;
    await store.quarantine.moveIn(
      missedBy,
      [body.id],
      new Date(Date.now() + (start === QUARANTINE_ENDED ? 0 : 3_600_000)),
    );
    const sweep = (): Promise<ScenarioResult | null> => sweepQuarantine(customerId);
    const restore = async (): Promise<ScenarioResult> => {
      planned.delete(customerId);
      await sweep();
      startedWorkflows.delete(`${customerId}: ${workflow}`);
      planned.set(customerId, { workflow, injectedFaults: [...injectedFaults] });
      const answer = await organization.post('/quarantined_files/restore', { file_ids: [body.id] });
      expect(answer).toMatchObject({ status: 200, body: { restoring: 1 } });
      return resultOf(customerId, workflow);
    };
    const result = start === QUARANTINE_ENDED ? await sweep() : await restore();
    planned.set(customerId, { workflow, injectedFaults: [] });
    // If the run was cancelled, the next sweep starts a run for its remaining files.
    while (result?.outcome === 'aborted' && (await sweep()) !== null);
    return result ?? Promise.reject(new Error('the quarantine was empty'));
  }
  if (workflow === 'connectByConsent') {
    const request = { service: 'GOOGLE_DRIVE', sync_source_items: false };
    const { body } = await user.post<{ oauth_url: string }>('/integrations/oauth_url', request);
    const redirect = await answerConsent(body.oauth_url);
    await openPage(start === REFUSED ? redirect.replace(/code=[^&]*/, 'code=nobody') : redirect);
    return resultOf(customerId, workflow);
  }
  if (workflow === 'syncItems' || workflow === 'syncSource' || workflow === 'autoSync') {
    // A separate token for each customer, because the test revokes it.
    const token = `gb_api_${organizationId}`;
    gitbook.tokens.set(token, ORGANIZATION);
    const connected = await user.post('/integrations/gitbook', {
      organization: ORGANIZATION,
      access_token: token,
      sync_source_items: workflow === 'syncItems',
      sync_files_on_connection: false,
    });
    expect(connected.status).toBe(200);
    if (start === REVOKED) gitbook.tokens.delete(token);
    if (workflow === 'syncItems') return resultOf(customerId, workflow);
    const { results } = (await user.post<{ results: { id: number }[] }>('/user_data_sources', {})).body;
    const selection = { data_source_id: results[0]?.id, ids: ['pier'] };
    expect((await user.post('/integrations/files/sync', selection)).status).toBe(200);
    const synced = await resultOf(customerId, 'syncSource');
    if (workflow === 'syncSource') return synced;
    const change = { customer_ids: [customerId], auto_sync_enabled_sources: 'ALL' };
    expect((await organization.post('/update_users', change)).status).toBe(200);
    await runScheduledSync(client, service.names, scheduleIds.source(results[0]?.id ?? 0)).catch(ignoreFailedSync);
    return resultOf(customerId, workflow);
  }
  const upload = (name: string) => user.upload({ name, content: UPLOADS[name]?.() ?? '' }, { use_ocr: true });
  const startRequests: Partial<Record<Workflow, () => Promise<{ status: number }>>> = {
    webScrape: () =>
      user.post('/web_scrape', [{ url: site.url(start ?? '/start.html'), chunk_size: 150, recursion_depth: 1 }]),
    drainUploads: () => upload('notes.md'),
    syncUpload: () => upload(start ?? ''),
    syncFeed: () => user.post('/integrations/rss_feed', { url: site.url(start ?? '/feed.xml'), chunk_size: 150 }),
  };
  if (workflow in startRequests) {
    expect((await startRequests[workflow]?.())?.status).toBe(200);
    return resultOf(customerId, workflow);
  }
  if (start === PAGE_MISSING) {
    const scrape = { url: site.url('/sitemap.xml'), chunk_size: 150, enable_auto_sync: true };
    const { id } = await user.scrape(scrape);
    await user.settled(id);
    // The second request excludes a page that the first one stored. The page remains stored until the scheduled sync,
    // which uses the options of the second request, does not find it.
    await user.scrape({ ...scrape, url_paths_to_exclude: ['/pages/1.html'] });
    await user.settled(id);
    await runScheduledSync(client, service.names, scheduleIds.container(id)).catch(ignoreFailedSync);
    const syncResult = await resultOf(customerId, workflow);
    // A cancelled sync can leave files whose move into quarantine is incomplete. Each sweep starts a run that
    // completes such moves.
    while ((await sweepQuarantine(customerId)) !== null);
    return syncResult;
  }
  if (start === PAUSED) {
    await resumeWhenPaused(user, await user.scrape({ url: site.url('/sitemap.xml'), chunk_size: 150, max_tokens: 0 }));
    return resultOf(customerId, workflow);
  }
  const parent = await user.scrape({ url: site.url(start ?? '/sitemap.xml'), chunk_size: 150 });
  const scraped = await resultOf(customerId, 'scrapeSitemap');
  if (workflow === 'scrapeSitemap') return scraped;
  const [page] = await user.children(parent.id);
  const laterRequests: Partial<Record<Workflow, () => Promise<{ status: number }>>> = {
    resyncFile: () => user.post('/resync_file', { file_id: page?.id, chunk_size: 60 }),
    deleteFiles: () => user.post('/delete_files_v2', { filters: { parent_file_ids: [parent.id] } }),
    deleteUser: () => organization.post('/delete_users', { customer_ids: [customerId] }),
    updateTags: async () => {
      const { _id } = await connectSource(service, await service.store.users.ensure(organizationId, customerId));
      await adoptFiles(service, _id, [page?.id ?? 0]);
      return user.post('/data_sources/tags/add', { data_source_id: _id, tags: { team: 'red' } });
    },
    reembedFiles: () => user.post('/files/reembed', { embedding_model: 'COHERE_MULTILINGUAL_V3' }),
    recountFiles: () => organization.post('/organization/statistics', undefined),
  };
  expect((await laterRequests[workflow]?.())?.status).toBe(200);
  return resultOf(customerId, workflow);
}

const names = Object.keys(SCENARIOS);

/** The fault of a trial: a failure or a cancellation, before or after the work of its step. */
export type TrialFault = { readonly does: 'fail' | 'cancel'; readonly when: FaultTime };

/** Whether no earlier scenario includes the step. */
export const isFirstScenarioWith = (step: Step, name: string): boolean =>
  names.find((other) => SCENARIOS[other]!.steps.includes(step)) === name;

/**
 * Defines the tests of a suite: they run each scenario without faults, and again with each fault at each step, all
 * concurrently, and compare the stored results.
 * @param faultsAt returns the faults to inject at a step of a scenario, one per trial
 * @param omitted names of scenarios that do not run
 */
export function testWorkflows(
  faultsAt: (name: string, step: Step) => readonly TrialFault[],
  omitted: readonly string[] = [],
): void {
  const run = names.filter((name) => !omitted.includes(name));
  const trials = run.flatMap((name) =>
    SCENARIOS[name]!.steps.flatMap((step) =>
      faultsAt(name, step).map(({ does, when }) => ({
        scenario: name,
        injectedFault: { step, does, when },
        customer: `${name}, ${does} ${when} ${step}`,
      })),
    ),
  );
  type Trial = (typeof trials)[number];
  const failing = trials.filter(({ injectedFault }) => injectedFault.does === 'fail');
  const cancelling = trials.filter(({ injectedFault }) => injectedFault.does === 'cancel');

  const results = new Map<string, ScenarioResult | Error>();
  let stores: StoredState;
  let unwatch: () => void;

  beforeAll(async () => {
    // Every trial injects a fault, about which the SDK would warn.
    await quietTemporal('ERROR');
    ({ activity } = await loadProduct());
    unwatch = watchHeartbeats();
    client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
    site = await startSampleSite(PAGES, 1);
    site.pages.set('/start.html', linkedPage('start', ['/pages/0.html', '/pages/1.html']));
    site.pages.set('/feed.xml', feedOf({ one: 'Lit in 1901.', two: 'Dredged in 1902.' }));
    deepgram = await startDeepgram('key');
    drive = await startGoogleDrive();
    gitbook = await startGitBook({
      pier: { title: 'Pier', pages: { one: { title: 'One', text: 'Lit.' }, two: { title: 'Two', text: 'Dredged.' } } },
    });
    service = await startService(
      {
        ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
        LOG_LEVEL: 'silent',
        ACTIVITY_CONCURRENCY: '40',
        CONNECTIONS_PER_HOST: '40',
        DEEPGRAM_API_KEY: 'key',
        DEEPGRAM_BASE_URL: deepgram.url,
        SOURCE_URLS: `${gitbook.settings},${drive.settings}`,
        OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
      },
      { worker: false },
    );
    await service.startWorker(withFaults);
    // Trials mostly wait, so many run concurrently. Each has its own customer.
    const limit = pLimit(16);
    const trial = (customer: string, scenario: Scenario, injectedFaults: readonly InjectedFault[]) =>
      limit(async () => {
        const result = await runScenario(customer, scenario, injectedFaults).catch((error: unknown) => error as Error);
        results.set(customer, result);
      });
    await Promise.all([
      ...run.map((name) => trial(name, SCENARIOS[name]!, SCENARIOS[name]!.faults ?? [])),
      ...trials.map(({ customer, scenario, injectedFault }) =>
        trial(customer, SCENARIOS[scenario]!, [...(SCENARIOS[scenario]!.faults ?? []), injectedFault]),
      ),
    ]);
    stores = await readStoredState(service.env);
  }, 600_000);
  afterAll(async () => {
    unwatch();
    await service.close();
    await Promise.all([site.close(), deepgram.close(), gitbook.close(), drive.close()]);
    await client.connection.close();
  });

  const titled = (selected: readonly Trial[]) => selected.map((trial) => [trial.customer, trial] as const);

  /** Expected of each result: all planned faults occurred, no step is still running, and the stores are consistent. */
  const CLEAN_RESULT = { unusedFaults: 0, running: 0, inconsistencies: [] };

  describe('workflows without faults', () => {
    test.each(run)('%s', (scenario) => {
      const end = results.get(scenario);
      if (end instanceof Error) throw end;
      expect({ ...end, inconsistencies: stores.findInconsistencies(scenario) }).toMatchObject(CLEAN_RESULT);
      expect(end?.outcome).toBe(SCENARIOS[scenario]!.outcome ?? 'finished');
    });
  });

  describe('steps that fail once are retried without loss or duplicates', () => {
    test.each(titled(failing))('%s', (customer, { scenario }) => {
      // Expect the outcome and the stored data of the run without faults.
      const end = results.get(customer);
      if (end instanceof Error) throw end;
      expect(end).toEqual(results.get(scenario));
      expect({ ...end, inconsistencies: stores.findInconsistencies(customer) }).toMatchObject(CLEAN_RESULT);
      if (SCENARIOS[scenario]!.faults?.includes(CANCELLED) !== true)
        expect(stores.content(customer)).toEqual(stores.content(scenario));
    });
  });

  describe('a run cancelled at a step ends, and no work remains', () => {
    if (cancelling.length > 0)
      test.each(titled(cancelling))('%s', (customer, { scenario }) => {
        const end = results.get(customer);
        if (end instanceof Error) throw end;
        expect({ ...end, inconsistencies: stores.findInconsistencies(customer) }).toMatchObject(CLEAN_RESULT);
        // The states of the workflow, of the run and of its records must match.
        const { outcome, workflowStatus, listed } = end as ScenarioResult;
        const { files } = stores.content(customer);
        const statuses = files.map((file) => (file as { syncStatus: string }).syncStatus);
        expect(['finished', 'failed', 'aborted']).toContain(outcome);
        expect(['COMPLETED', 'CANCELLED', 'FAILED']).toContain(workflowStatus);
        const { workflow } = SCENARIOS[scenario]!;
        if (LISTING_RUNS.includes(workflow)) {
          const status = CONTAINER_STATUSES[outcome as keyof typeof CONTAINER_STATUSES];
          const { sources, containers } = listed;
          expect(sources.length + containers.length).toBeGreaterThan(0);
          expect(sources).toEqual(sources.map(() => 'READY'));
          expect(containers).toEqual(containers.map(() => status));
        }
        const unready =
          SCENARIOS[scenario]!.workflow === 'deleteUser' ? statuses.filter((status) => status !== 'READY') : null;
        if (unready !== null) expect({ outcome, unready }).toEqual({ outcome, unready: [] });
        else if (SCENARIOS[scenario]!.workflow === 'settleQuarantine')
          expect(statuses).toEqual(SCENARIOS[scenario]!.start === QUARANTINE_ENDED ? [] : ['READY']);
        else if (
          outcome === 'finished' ||
          ['deleteFiles', 'updateTags', 'reembedFiles', 'moveStorage'].includes(SCENARIOS[scenario]!.workflow)
        )
          expect(new Set(statuses)).toEqual(
            new Set(WITHOUT_FILES.includes(SCENARIOS[scenario]!.workflow) ? [] : ['READY']),
          );
        if (unready !== null && outcome === 'finished') expect(files).toEqual([]);
        if (outcome === 'aborted' && SCENARIOS[scenario]!.workflow === 'scrapeSitemap')
          expect(statuses).toContain('SYNC_ABORTED');
      });
  });
}
