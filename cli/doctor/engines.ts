/** Checks of `doctor` for the engines and the API. */
import type { Config } from '../../config/types.js';
import { temporalNames } from '../../contract/runs/temporalNames.js';
import { findEmbeddedFailure } from '../../engines/embeddedFailure.js';
import type { EngineName } from '../../engines/engine.js';
import { inspectTemporal, type TemporalInspection } from '../../dispatch/inspect.js';
import { type Inspection, inspectMongodb, inspectQdrant } from '../../store/overview/inspection.js';
import { hostsOfMongodbUri } from '../../store/mongodbUri.js';
import { SCHEMA_VERSION } from '../../store/migrations/run.js';
import { openApi } from '../api.js';
import type { Call } from '../command.js';
import { bad, type Check, messageOf, ok, warn } from './check.js';
import { clockCheck } from './clock.js';

const START = 'Start the service with npm start';
const notSet = (name: string, setting: string): Check => bad(name, 'no address is set', `${START}, or set ${setting}.`);

interface NamedEngine {
  readonly name: string;
  /** The address of the engine, for the message. */
  readonly at: string;
  readonly engine: EngineName;
  /** Settings to check if the engine is not embedded. */
  readonly settings: string;
}

/**
 * Returns why an engine does not answer: the recorded failure of the embedded one, or the error of the request.
 */
async function noAnswer(
  { dataDir }: Config,
  { name, at, engine, settings }: NamedEngine,
  error: unknown,
): Promise<Check> {
  const failure = await findEmbeddedFailure(dataDir, engine);
  if (failure === null)
    return bad(name, `${at} does not answer: ${messageOf(error)}`, `${START}, or check ${settings}.`);
  const { found, fix, detail } = failure;
  return bad(name, detail === null ? found : `${found}. Last cause: ${detail}`, `${fix}.`);
}

interface MongodbFindings {
  readonly checks: Check[];
  readonly inspection: Inspection | null;
  /** Null if no address is set, MongoDB does not respond, or the service was never started on this database. */
  readonly deploymentId: string | null;
}

/** Checks whether MongoDB answers, its replica set, clock and schema version. Also returns the opened inspection. */
export async function mongodbChecks(config: Config): Promise<MongodbFindings> {
  const name = 'MongoDB';
  const { mongodbUri } = config;
  if (mongodbUri === null) return { checks: [notSet(name, 'MONGODB_URI')], inspection: null, deploymentId: null };
  try {
    const inspection = await inspectMongodb(mongodbUri);
    const sentAt = Date.now();
    const { version, replicaSet, clock: now, schema, deploymentId } = await inspection.server();
    const checks = [
      replicaSet === null
        ? bad(
            name,
            `${version}, no replica set`,
            'Transactions require a replica set: start mongod with --replSet, then run rs.initiate().',
          )
        : ok(name, `${version}, replica set ${replicaSet}`),
      clockCheck(now, sentAt, Date.now()),
    ];
    if (schema !== null && schema > SCHEMA_VERSION)
      checks.push(
        bad(
          'records',
          `version ${schema}, but this program supports ${SCHEMA_VERSION}`,
          'Start the newer version of Allotrope again, or restore a backup.',
        ),
      );
    return { checks, inspection, deploymentId };
  } catch (error) {
    const at = hostsOfMongodbUri(mongodbUri).join(', ');
    return {
      checks: [await noAnswer(config, { name, at, engine: 'mongodb', settings: 'MONGODB_URI' }, error)],
      inspection: null,
      deploymentId: null,
    };
  }
}

/** Checks whether Qdrant answers, and whether its collections can be searched and written. */
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
          `${version}; searches fail: ${broken.map((collection) => `${collection.name} (${collection.reason})`).join(', ')}`,
          'A segment is damaged or the disk is full. Free space; if searches still fail: npm run cli -- vectors rebuild.',
        ),
      ];
    const red = collections.filter(({ status }) => status === 'red').map((one) => one.name);
    return [
      red.length > 0
        ? bad(
            name,
            `${version}; ${red.join(', ')} is red`,
            "Check Qdrant's log: a red collection accepts no writes; its disk may be full.",
          )
        : ok(name, `${version}, ${collections.length} collections`),
    ];
  } catch (error) {
    return [
      await noAnswer(
        config,
        { name, at: qdrant.url, engine: 'qdrant', settings: 'QDRANT_URL and QDRANT_API_KEY' },
        error,
      ),
    ];
  }
}

/** Checks Temporal. @param deploymentId null: unknown, so task queue and workflows cannot be looked up */
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
    return {
      checks: [await noAnswer(config, { name, at: address, engine: 'temporal', settings }, error)],
      inspection: null,
    };
  }
}

/** Checks that the API responds at PUBLIC_URL and accepts API_KEY. */
export async function apiChecks(call: Call): Promise<Check[]> {
  try {
    const api = openApi(call);
    const health = await api.fetchResponse<{ status?: string }>('/health');
    if (health.body.status !== 'ok')
      return [
        bad(
          'API',
          `${api.url}/health answered ${health.status}`,
          'Another program responds there. Check PUBLIC_URL, PORT, and the reverse proxy.',
        ),
      ];
    const key = await api.fetchResponse('/organization');
    return [
      ok('API', `${api.url} answers`),
      key.status === 200
        ? ok('API_KEY', 'is accepted')
        : warn(
            'API_KEY',
            `GET /organization answered ${key.status}`,
            'If it is 401, set API_KEY to a valid key: npm run cli -- key list shows the keys, key create creates one.',
          ),
    ];
  } catch (error) {
    return [
      bad('API', messageOf(error), `${START} or npm run api. If this machine reaches it at another URL, pass --url.`),
    ];
  }
}
