import { CONNECTED_SOURCES, isConnectedSource } from '../../../contract/sources/connectedSources.js';
import type { DataSourceDoc } from '../../../store/models/dataSources.js';
import type { ApiDeps } from '../../http/deps.js';
import { operation } from '../../http/operation.js';
import { pathId } from '../../http/pathId.js';
import { diagnosisAnswer } from '../../schemas/diagnosis.js';
import { accountOf, dataSourceOf } from '../../integrations/dataSourceOf.js';
import { accessEnded, credential, limits, type CheckedAccount, sampleItem, scopes } from './account.js';
import { type Check, type Finding, runCheck, type CheckContext, ok, warn, worstOf } from './check.js';
import { lastFailures } from './failures.js';
import { schedule } from './schedule.js';

/** Maximum number of rate-limited files that are counted. */
const MAX_WAITING = 1_000;

/** Time limit of checks that read only the database of this service. */
const LOCAL_MS = 5_000;

const NO_ACCOUNT = ok('A feed or a site has no account: its pages are fetched without one.');
const SKIPPED_CHECK: Finding = warn('Not checked, because the credential must be valid first.', null);

/**
 * Checks of the account at its source. While a rate limit of the source applies, `credential` and `sample_item` send no
 * request and warn instead.
 */
async function requestChecks(at: CheckedAccount, context: CheckContext, deps: ApiDeps): Promise<Check[]> {
  const { signal } = context;
  const paused = async (): Promise<Finding | null> => {
    const { status, message, details } = await limits(at, 0);
    return status === 'ok' ? null : warn(message, 'Diagnose again after that time.', details);
  };
  const pausable: CheckContext = { ...context, onTimeout: async () => (await paused()) ?? context.onTimeout() };
  const credentialed = runCheck('credential', pausable, async () => (await paused()) ?? credential(at, signal));
  const scoped = runCheck('scopes', context, () => scopes(at));
  const credentialCheck = await credentialed;
  if (credentialCheck.details['cause'] === 'access_revoked') await recordRefusal(at, deps);
  const sampled = runCheck('sample_item', pausable, async () =>
    credentialCheck.status === 'bad' ? SKIPPED_CHECK : ((await paused()) ?? sampleItem(at, signal)),
  );
  const sampleCheck = await sampled;
  // Check the limits last, because an earlier check may have reached one.
  const limited = runCheck('limits', { ...context, signal: AbortSignal.timeout(LOCAL_MS) }, async () =>
    limits(at, await deps.store.files.waitingForLimit(at.source, MAX_WAITING)),
  );
  return [credentialCheck, await scoped, await limited, sampleCheck];
}

/** Records that the source rejects the credentials, as a sync does, so that operators see it at once. */
async function recordRefusal({ source, account }: CheckedAccount, { store, unit, log }: ApiDeps): Promise<void> {
  const refused = account.grantVersion() ?? source.sealedCredentials;
  if (refused === null) return;
  const { _id: dataSourceId, organizationId } = source;
  const revokedSource = await unit.transaction((session) =>
    store.dataSources.revoke(source, dataSourceId, session, { refused, workflowId: null }),
  );
  if (revokedSource?.revokedAccess !== true) return;
  await store.files.abortQueuedOf(revokedSource);
  log.warn({ organizationId, dataSourceId }, 'a diagnosis found credentials that the source no longer accepts');
}

async function accountChecks(source: DataSourceDoc, context: CheckContext, deps: ApiDeps): Promise<Check[]> {
  const { type, revokedAccess, sealedCredentials, lastSyncedAt } = source;
  const allWith = (finding: Finding): Check[] =>
    ['credential', 'scopes', 'limits', 'sample_item'].map((name) => ({ name, ...finding }));
  if (!isConnectedSource(type)) return allWith(NO_ACCOUNT);
  const { connectAgain } = context;
  const service = CONNECTED_SOURCES[type].name;
  if (revokedAccess || sealedCredentials === null)
    return allWith(SKIPPED_CHECK).map((check) =>
      check.name === 'credential' ? { ...check, ...accessEnded(service, connectAgain, lastSyncedAt) } : check,
    );
  try {
    const connected = { ...source, type };
    const at: CheckedAccount = { source: connected, account: accountOf(connected, deps), service, connectAgain };
    return await requestChecks(at, context, deps);
  } catch (error) {
    // For example, credentials that cannot be decrypted.
    return allWith(context.onError(error));
  }
}

const connectAgainOf = ({ type }: DataSourceDoc): string =>
  `Connect the account again: ${isConnectedSource(type) && CONNECTED_SOURCES[type].auth === 'oauth' ? 'POST /integrations/oauth_url' : 'POST /integrations/connect, with valid credentials'}.`;

/** GET /data_sources/{data_source_id}/diagnosis: checks a connection and returns problems with remedies. */
export const diagnosis = operation({
  method: 'get',
  path: '/data_sources/{data_source_id}/diagnosis',
  operationId: 'diagnose_data_source',
  tag: 'Data Sources',
  auth: 'user',
  summary: 'Diagnose a data source',
  description: [
    'Checks a connected account part by part while you wait: credentials, scopes, rate limits, an item at the source, automatic sync, and the last failures.\n\nUse it when a sync fails or no files arrive. Each result says what to do and who has to do it. Requests to the source take at most DIAGNOSIS_TIMEOUT_MS (default 15 s); during a rate limit none is sent. Expired tokens are renewed. If the source refuses the credentials, the account is revoked (`revoked_access`), as a sync would do. Nothing else changes.',
  ],
  returns: 'Six results, one for each part of the connection. `status` is the worst of them.',
  answer: diagnosisAnswer,
  async handle({ caller, params, requestId, deps }) {
    const source = await dataSourceOf(caller, pathId(params, 'data_source_id'), deps.store);
    const startedAt = Date.now();
    const { diagnosisTimeoutMs } = deps.settings;
    const { _id: dataSourceId, organizationId } = source;
    const context: CheckContext = {
      signal: AbortSignal.timeout(diagnosisTimeoutMs),
      connectAgain: connectAgainOf(source),
      onTimeout: async () =>
        warn(`No answer within ${diagnosisTimeoutMs / 1000} s.`, 'Diagnose again; if it persists, check the source.', {
          cause: 'timed_out',
        }),
      onError(error) {
        deps.log.error({ err: error, requestId, organizationId, dataSourceId }, 'a part of a diagnosis failed');
        return {
          status: 'bad',
          message: 'This could not be checked because of an internal error.',
          fix: `The operator can find the cause in the log of the API under request id ${requestId}.`,
          details: {},
        };
      },
    };
    const checks = (
      await Promise.all([
        accountChecks(source, context, deps),
        runCheck('schedule', context, () => schedule(source, deps)),
        runCheck('last_failures', context, () => lastFailures(source, deps)),
      ])
    ).flat();
    return {
      data_source_id: dataSourceId,
      data_source_type: source.type,
      status: worstOf(checks),
      checks,
      checked_at: new Date(startedAt).toISOString(),
      took_ms: Date.now() - startedAt,
    };
  },
});
