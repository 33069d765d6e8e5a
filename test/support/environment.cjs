/**
 * Jest's Node environment, in which all suites of a process share one copy of the compiled service, loaded by Node as in
 * production. Loading its 900 modules for each suite would take most of the time of many suites. Some large packages
 * are shared, too: jest.config.cjs maps their imports in all suites to the modules in shared/, which load them with
 * Node's own `require`, once per process.
 */
const { AsyncLocalStorage } = require('node:async_hooks');
const { rm } = require('node:fs/promises');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { types } = require('node:util');
const v8 = require('node:v8');
const { globalHandlers } = require('@temporalio/worker/lib/workflow/vm-shared.js');
const { TestEnvironment } = require('jest-environment-node');

/** The compiled service. The global setup writes it. */
const DIST = path.resolve(__dirname, '../../dist');
const fromDist = (file) => import(pathToFileURL(path.join(DIST, file)).href);

async function load() {
  const [api, worker, config, log, fields, local, sdkLogger, sdk, activity, mongoose] = await Promise.all([
    fromDist('api/createApi.js'),
    fromDist('worker/createWorker.js'),
    fromDist('config/config.js'),
    fromDist('observability/log.js'),
    fromDist('activities/logFields.js'),
    fromDist('providers/embeddings/providers/local.js'),
    fromDist('worker/sdkLogger.js'),
    import('@temporalio/worker'),
    import('@temporalio/activity'),
    import('mongoose'),
  ]);
  return {
    createApi: api.createApi,
    createWorker: worker.createWorker,
    loadConfig: config.loadConfig,
    createLog: log.createLog,
    activityFields: fields.activityFields,
    createLocalProvider: local.createLocalProvider,
    startLocalProcess: local.startLocalProcess,
    isExpected: sdkLogger.isExpected,
    sdk: sdk.default,
    activity: activity.default,
    mongoose: mongoose.default,
    sharedValues: new Map(),
    // Created here, because a shared API keeps them: objects of a suite would keep all modules of the suite in memory.
    createTestLog: (level, logTo) => log.createLog({ level, name: 'test', fields: fields.activityFields }, logTo),
    keepOpen: (model) => ({ ...model, close: async () => undefined }),
    keepApi,
    useApi,
  };
}

let loaded = null;

/** APIs that suites share (sharedService.ts), by name. */
const keptApis = new Map();

/**
 * A shared API is closed after this number of suites in a row that do not use it, because an idle API uses processor
 * time.
 */
const MAX_UNUSED = 3;

function keepApi(name, api, env) {
  // A copy: an object of a suite would keep all modules of that suite in memory.
  keptApis.set(name, { api, env: { ...env }, isUsed: true, unusedFor: 0 });
}

function useApi(name) {
  const kept = keptApis.get(name);
  if (kept) kept.isUsed = true;
  return kept;
}

async function closeUnusedApis() {
  for (const [name, kept] of keptApis) {
    kept.unusedFor = kept.isUsed ? 0 : kept.unusedFor + 1;
    kept.isUsed = false;
    if (kept.unusedFor < MAX_UNUSED) continue;
    keptApis.delete(name);
    await kept.api.stop(0);
    const { mongoose } = await loaded;
    const connection = await mongoose.createConnection(kept.env.MONGODB_URI).asPromise();
    await connection.dropDatabase();
    await connection.close();
    await rm(kept.env.DATA_DIR, { recursive: true, force: true });
  }
}

/**
 * The AsyncLocalStorage instances that suites have enabled. Connections to Temporal and Jest itself enable some for
 * each suite and do not disable them. Before Node 24, each enabled instance slows every promise of the process;
 * `_enable` exists only in these versions.
 */
const usedStorages = new Set();
const enable = AsyncLocalStorage.prototype._enable;
if (enable)
  AsyncLocalStorage.prototype._enable = function () {
    usedStorages.add(this);
    enable.call(this);
  };

/** Whether a value is an instance of a built-in class, whatever context has created it. */
const KINDS = {
  Error: types.isNativeError,
  Date: types.isDate,
  Map: types.isMap,
  RegExp: types.isRegExp,
  Set: types.isSet,
};
for (const name of ['RangeError', 'SyntaxError', 'TypeError', 'URIError'])
  KINDS[name] = (value) => types.isNativeError(value) && value.name === name;

/**
 * Each suite has built-in classes of its own, and shared packages have those of Node: `instanceof` must accept both.
 * @param global the global object of a suite, or Node's own
 */
function acceptAllContexts(global) {
  const isInstance = global.Function.prototype[Symbol.hasInstance];
  for (const [name, isKind] of Object.entries(KINDS)) {
    const kind = global[name];
    Object.defineProperty(kind, Symbol.hasInstance, {
      // Subclasses inherit this method. For them, `this` is not `kind`, so that only the usual check applies.
      value(instance) {
        return isInstance.call(this, instance) || (this === kind && isKind(instance));
      },
    });
  }
}
acceptAllContexts(globalThis);

module.exports = class ServiceEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    // Typed in product.ts.
    this.global.loadProduct = () => (loaded ??= load());
    this.global.loadDocumentPool = () => fromDist('documents/pool.js');
    this.global.loadSplitText = () => fromDist('documents/chunking/splitText.js');
    this.global.globalOfNode = globalThis;
    // The modules in shared/ load their packages with it.
    this.global.requireOfNode = require;
    acceptAllContexts(this.global);
  }

  async teardown() {
    await super.teardown();
    await closeUnusedApis();
    for (const storage of usedStorages) storage.disable();
    usedStorages.clear();
    // Replays of workflows leave a hook installed that runs for every promise of the process.
    globalHandlers.uninstall();
    // Jest ends its processes by signals, after which Node writes no coverage (npm run coverage).
    if (process.env.NODE_V8_COVERAGE) v8.takeCoverage();
  }
};
