/** Services that all suites of a process share. Each suite has an organization of its own. */
import { watchAnswers } from './answeredOperations.js';
import { testEngines } from './engines.js';
import { throwOnWrongCounts, findWrongCounts, findWrongCountsOfEndedRuns } from './ledger.js';
import { type KeptApi, loadProduct } from './product.js';
import { serviceOf, startApi, type TestService } from './serviceParts.js';
import { newServiceSettings } from './serviceSettings.js';
import { sharedLocalModel } from './sharedLocalModel.js';

/** A service that other suites use too. `apiKey` and `user` belong to the suite's organization. */
export interface SharedService extends TestService {
  readonly organizationId: number;
  /** First of a million ids for rows that the suite writes directly to the stores. No other row has them. */
  readonly firstId: number;
}

/** Above all ids that services assign, and below the ids that tests use as missing ones. */
const FIRST_ID = 10_000_000_000;
const IDS_PER_SUITE = 1_000_000;

/**
 * Returns one of the two APIs of this process: that of suites with a worker, or that of suites without. They are
 * separate, because a worker would process the runs that suites without a worker leave unfinished. Only texts and
 * values of the product may be passed to the API: an object or function of a suite would keep its modules in memory.
 */
async function sharedApi(withWorker: boolean): Promise<KeptApi> {
  const { keepApi, useApi } = await loadProduct();
  const name = withWorker ? 'with a worker' : 'without a worker';
  const kept = useApi(name);
  if (kept) return kept;
  const engines = testEngines();
  const env = await newServiceSettings({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' }, engines.runFolder);
  const api = await startApi(env, { localModel: await sharedLocalModel(engines) });
  keepApi(name, api, env);
  return { api, env };
}

/**
 * Returns a service with default settings, in which the suite has a new organization. The API and the stores are shared
 * by the suites of a process, because their start takes most of a second of processor time; a worker belongs to the
 * suite, because it needs processor time even when idle. A suite may change and count only rows of its organizations;
 * others use startService().
 * @param name the name of the organization
 */
export async function sharedService({ worker = true, name = 'suite' } = {}): Promise<SharedService> {
  const { api, env } = await sharedApi(worker);
  const { organizationId, apiKey } = await api.store.organizations.create(name);
  const recordAnswers = watchAnswers(api.port);
  const service = serviceOf(api, { env, apiKey, localModel: await sharedLocalModel(testEngines()) });
  if (worker) await service.startWorker();
  return {
    ...service,
    organizationId,
    firstId: FIRST_ID + organizationId * IDS_PER_SUITE,
    async close() {
      // Wait for the end of the suite's runs: the worker of a later suite would continue them. Without a worker, runs
      // do not end.
      const find = worker ? findWrongCountsOfEndedRuns : findWrongCounts;
      const wrong = await find(env['MONGODB_URI'] ?? '', organizationId);
      await service.stopWorker();
      recordAnswers();
      throwOnWrongCounts(wrong);
    },
  };
}
