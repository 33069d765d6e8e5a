/** What the doctor asks of engines and API. */
import type { Config } from '../../config/types.js';
import { temporalNames } from '../../contract/temporalNames.js';
import { embeddedTrouble } from '../../engines/embeddedTrouble.js';
import type { EngineName } from '../../engines/engine.js';
import { inspectTemporal, type TemporalInspection } from '../../dispatch/inspect.js';
import { type Inspection, inspectMongodb, inspectQdrant } from '../../store/inspection.js';
import { SCHEMA_VERSION } from '../../store/migrations/run.js';
import { openApi } from '../api.js';
import type { Call } from '../command.js';
import { bad, type Check, messageOf, ok, warn } from './check.js';

const START = 'Start the service with npm start';
const MOST_SKEW_MS = 5_000;
const notSet = (name: string, setting: string): Check =>
  bad(name, 'no address is known', `${START}, or set ${setting}.`);

/**
 * Says why a store does not answer: what is known of its embedded engine, else the error of the call.
 * @param settings what to look at where the store is no embedded engine
 */
async function noAnswer(
  name: string,
  at: string,
  { dataDir }: Config,
  engine: EngineName,
  settings: string,
  error: unknown,
): Promise<Check> {
  const trouble = await embeddedTrouble(dataDir, engine);
  if (trouble === null) return bad(name, `${at} does not answer: ${messageOf(error)}`, `${START}, or see ${settings}.`);
  const { found, fix, detail } = trouble;
  return bad(name, detail === null ? found : `${found}. Last cause: ${detail}`, `${fix}.`);
}

/** Within a second, since the question took its time. */
function clock(mongodb: Date, asked: number, answered: number): Check {
  const name = 'clock';
  const skew = Math.max(0, asked - mongodb.getTime(), mongodb.getTime() - answered);
  const found = `${Math.round(skew / 1000)} s apart from MongoDB's`;
  return skew <= MOST_SKEW_MS
    ? ok(name, found)
    : bad(name, found, 'Have both machines keep time (NTP): tokens, retries and leases go by it.');
}

interface MongodbFindings {
  readonly checks: Check[];
  readonly inspection: Inspection | null;
  /** Null where MongoDB does not answer, or nothing was started yet. */
  readonly deploymentId: string | null;
}

export async function mongodbChecks(config: Config): Promise<MongodbFindings> {
  const name = 'MongoDB';
  const { mongodbUri } = config;
  if (mongodbUri === null) return { checks: [notSet(name, 'MONGODB_URI')], inspection: null, deploymentId: null };
  try {
    const inspection = await inspectMongodb(mongodbUri);
    const asked = Date.now();
    const { version, replicaSet, clock: now, schema, deploymentId } = await inspection.server();
    const checks = [
      replicaSet === null
        ? bad(
            name,
            `${version}, no replica set`,
            'Transactions need one: start mongod with --replSet, then rs.initiate().',
          )
        : ok(name, `${version}, replica set ${replicaSet}`),
      clock(now, asked, Date.now()),
    ];
    if (schema !== null && schema > SCHEMA_VERSION)
      checks.push(
        bad(
          'records',
          `version ${schema}, and this program reads ${SCHEMA_VERSION}`,
          'Start the newer version of Allotrope again, or restore a backup.',
        ),
      );
    return { checks, inspection, deploymentId };
  } catch (error) {
    const { host } = new URL(mongodbUri);
    return {
      checks: [await noAnswer(name, host, config, 'mongodb', 'MONGODB_URI', error)],
      inspection: null,
      deploymentId: null,
    };
  }
}

export async function qdrantChecks(config: Config): Promise<Check[]> {
  const name = 'Qdrant';
  const { qdrant } = config;
  if (qdrant.url === null) return [notSet(name, 'QDRANT_URL')];
  try {
    const { version, collections, broken } = await inspectQdrant({ ...qdrant, url: qdrant.url });
    if (broken.length > 0)
      return [
        bad(
          name,
          `${version}; searches fail: ${broken.map((one) => `${one.name} (${one.reason})`).join(', ')}`,
          'A segment is damaged or the disk is full. Free space; if searches still fail: npm run cli -- vectors rebuild.',
        ),
      ];
    const red = collections.filter(({ status }) => status === 'red').map((one) => one.name);
    return [
      red.length > 0
        ? bad(
            name,
            `${version}; ${red.join(', ')} is red`,
            "See Qdrant's log: a collection that is red takes no writes; its disk may be full.",
          )
        : ok(name, `${version}, ${collections.length} collections`),
    ];
  } catch (error) {
    return [await noAnswer(name, qdrant.url, config, 'qdrant', 'QDRANT_URL and QDRANT_API_KEY', error)];
  }
}

/** @param deploymentId null: unknown, so neither the task queue nor any workflow can be looked up */
export async function temporalChecks(
  config: Config,
  deploymentId: string | null,
): Promise<{ checks: Check[]; inspection: TemporalInspection | null }> {
  const name = 'Temporal';
  const { temporal } = config;
  const { address } = temporal;
  if (address === null) return { checks: [notSet(name, 'TEMPORAL_ADDRESS')], inspection: null };
  const names = temporalNames(deploymentId ?? '', temporal.taskQueue);
  const inspection = inspectTemporal({ ...temporal, address }, names);
  try {
    const { version } = await inspection.server();
    if (deploymentId !== null) return { checks: [ok(name, version)], inspection };
    await inspection.close();
    return { checks: [ok(name, version)], inspection: null };
  } catch (error) {
    await inspection.close();
    const settings = 'TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE';
    return { checks: [await noAnswer(name, address, config, 'temporal', settings, error)], inspection: null };
  }
}

/** Whether the API answers, under PUBLIC_URL, and takes API_KEY. */
export async function apiChecks(call: Call): Promise<Check[]> {
  try {
    const api = openApi(call);
    const health = await api.ask<{ status?: string }>('/health');
    if (health.body.status !== 'ok')
      return [
        bad(
          'API',
          `${api.url}/health answered ${health.status}`,
          'Something else answers there: see PUBLIC_URL, PORT, and the proxy before it.',
        ),
      ];
    const key = await api.ask('/organization');
    return [
      ok('API', `${api.url} answers`),
      key.status === 200
        ? ok('API_KEY', 'is taken')
        : warn(
            'API_KEY',
            `answered ${key.status}`,
            'Set API_KEY to a key that is good; npm run cli -- key list shows them, key create makes one.',
          ),
    ];
  } catch (error) {
    return [
      bad('API', messageOf(error), `${START} or npm run api; where it is not to be reached from here, say --url.`),
    ];
  }
}
