/**
 * Jest's environment for Node, and what suites of a process have in common: the service as production runs it, compiled,
 * loaded once by Node itself. Loaded anew for each suite, its 900 modules would be most of the work of many.
 */
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const v8 = require('node:v8');
const { TestEnvironment } = require('jest-environment-node');

/** The global setup has brought it up to date. */
const DIST = path.resolve(__dirname, '../../dist');
const fromDist = (file) => import(pathToFileURL(path.join(DIST, file)).href);

async function load() {
  const [api, worker, config, log, fields, local, sdkLogger, sdk, activity] = await Promise.all([
    fromDist('api/createApi.js'),
    fromDist('worker/createWorker.js'),
    fromDist('config/config.js'),
    fromDist('observability/log.js'),
    fromDist('activities/logFields.js'),
    fromDist('providers/embeddings/providers/local.js'),
    fromDist('worker/sdkLogger.js'),
    import('@temporalio/worker'),
    import('@temporalio/activity'),
  ]);
  return {
    createApi: api.createApi,
    createWorker: worker.createWorker,
    loadConfig: config.loadConfig,
    createLog: log.createLog,
    activityFields: fields.activityFields,
    createLocalProvider: local.createLocalProvider,
    isExpected: sdkLogger.isExpected,
    sdk: sdk.default,
    activity: activity.default,
    kept: new Map(),
  };
}

let loaded = null;

module.exports = class ServiceEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    // Its types: product.ts.
    this.global.loadProduct = () => (loaded ??= load());
  }

  async teardown() {
    await super.teardown();
    // Jest ends its processes by signals, at which Node writes no coverage (npm run coverage).
    if (process.env.NODE_V8_COVERAGE) v8.takeCoverage();
  }
};
