/** Checks of `doctor` for secrets, unfinished files, the outbox, webhooks and data sources. */
import type { TemporalInspection } from '../../dispatch/inspect.js';
import type { Inspection } from '../../store/overview/inspection.js';
import { createSecrets } from '../../store/secrets/secrets.js';
import { failureSentence } from '../../contract/webhooks.js';
import type { Config } from '../../config/types.js';
import { stalledRuns, workers } from './stalls.js';
import { bad, type Check, ok, skipped, warn } from './check.js';

/** Maximum number of runs, webhooks and data sources that a check reads; it reports only EXAMPLES of them. */
const MAX_REPORTED = 200;
const EXAMPLES = 5;
const LONG_MS = 60_000;

async function secrets({ secretKeys }: Config, inspection: Inspection): Promise<Check> {
  const name = 'SECRET_KEY';
  const { opened, broken, why } = await inspection.openSecrets(createSecrets(secretKeys));
  if (broken === 0) return ok(name, `decrypts all ${opened} stored secrets`);
  return bad(
    name,
    `${broken} of ${opened + broken} secrets cannot be decrypted: ${why}`,
    'Append the key that encrypted them to SECRET_KEY, then restart API and workers.',
  );
}

async function stuckFiles(
  { reapIntervalMs }: Config,
  inspection: Inspection,
  temporal: TemporalInspection | null,
): Promise<Check[]> {
  const name = 'unfinished files';
  const moving = await inspection.unfinishedFiles(MAX_REPORTED);
  const sum = moving.reduce((total, { files }) => total + files, 0);
  const ownerless = moving.filter(({ run }) => run === null);
  const withoutWorkflow: typeof moving = [];
  const isUnknown = temporal === null && moving.length > ownerless.length;
  if (temporal)
    for (const group of moving) {
      const { run } = group;
      const isYoung = run !== null && (run.startedAt === null || Date.now() - run.startedAt.getTime() < LONG_MS);
      if (run && !isYoung && !(await temporal.isAlive(run))) withoutWorkflow.push(group);
    }
  const format = (groups: typeof moving): string =>
    groups
      .slice(0, EXAMPLES)
      .map(({ runId, files, example }) => `run ${runId}: ${files} files, such as file ${example}`)
      .join(', ');
  return [
    ...(ownerless.length > 0
      ? [
          bad(
            name,
            `files are unfinished although their run has ended or does not exist: ${format(ownerless)}`,
            'End the files with npm run cli -- reconcile --mend, then resync them.',
          ),
        ]
      : []),
    ...(withoutWorkflow.length > 0
      ? [
          warn(
            name,
            `runs without a workflow in Temporal have unfinished files: ${format(withoutWorkflow)}`,
            `A worker ends or restarts these runs within ${reapIntervalMs / 1000} s (REAP_INTERVAL_S). If it does not, check its log.`,
          ),
        ]
      : []),
    ...(isUnknown ? [skipped(name, 'Temporal must answer first')] : []),
    ...(ownerless.length + withoutWorkflow.length === 0 && !isUnknown
      ? [ok(name, `${sum}; no run that began over a minute ago is without a workflow`)]
      : []),
  ];
}

async function outbox(inspection: Inspection): Promise<Check> {
  const waiting = await inspection.unstarted(new Date(Date.now() - LONG_MS));
  return waiting === 0
    ? ok('outbox', 'no run waits to start')
    : warn(
        'outbox',
        `${waiting} runs have waited for more than a minute to be started in Temporal`,
        "Temporal or all workers were unavailable, or an earlier run of the same target is active: see 'the run could not be started yet' in the log.",
      );
}

/**
 * Returns a warning with the number of entries beyond the first EXAMPLES; no check if there are no more.
 * @param fix how to list them
 */
function unreported(name: string, found: readonly unknown[], fix: string): Check[] {
  const rest = found.length - EXAMPLES;
  return rest > 0 ? [warn(name, `${rest} more${found.length === MAX_REPORTED ? ' at least' : ''}`, fix)] : [];
}

async function webhooks(inspection: Inspection): Promise<Check[]> {
  const failing = await inspection.failingWebhooks(MAX_REPORTED);
  if (failing.length === 0) return [ok('webhooks', 'none is disabled or failing')];
  const checks = failing
    .slice(0, EXAMPLES)
    .map(({ _id, organizationId, url, disabledAt, failing: refused, statusReason }) =>
      disabledAt === null
        ? warn(
            'webhooks',
            `webhook ${_id} of organization ${organizationId} (${new URL(url).host}): ${refused ? failureSentence(refused) : statusReason}`,
            `Check its receiver. GET /webhooks/${_id}/deliveries lists every attempt.`,
          )
        : warn(
            'webhooks',
            `webhook ${_id} of organization ${organizationId} (${new URL(url).host}) has been disabled since ` +
              `${disabledAt.toISOString()}: its receiver responded with HTTP 410`,
            'Delete it, and add the new URL: POST /add_webhook.',
          ),
    );
  return [...checks, ...unreported('webhooks', failing, 'List them with POST /webhooks.')];
}

async function sources(inspection: Inspection): Promise<Check[]> {
  const failing = await inspection.failingSources(MAX_REPORTED);
  if (failing.length === 0) return [ok('data sources', 'none is revoked or in error')];
  const checks = failing.slice(0, EXAMPLES).map(({ _id, type, customerId, revokedAccess, metadata }) => {
    const description = `data source ${_id} (${type} of ${customerId})`;
    const { items_error, files_error, deletions_held } = metadata as Record<string, string | number | undefined>;
    if (revokedAccess)
      return warn(
        'data sources',
        `access to ${description} was lost`,
        'Ask its user to connect the account again, or to delete the data source.',
      );
    if (Number(deletions_held ?? 0) > 0)
      return warn(
        'data sources',
        `${description} has ${deletions_held} held deletions`,
        `Check the account, then run: npm run cli -- source approve-deletions ${_id}`,
      );
    return warn(
      'data sources',
      `${description}: ${items_error ?? files_error ?? 'its last sync failed'}`,
      'Fix the cause, then sync it again: POST /integrations/items/sync.',
    );
  });
  return [...checks, ...unreported('data sources', failing, 'List them with POST /data_sources.')];
}

/** Checks workers, the secret key, stalled runs, unfinished files, the outbox, webhooks and data sources. */
export async function workChecks(
  config: Config,
  inspection: Inspection | null,
  temporal: TemporalInspection | null,
  down: { readonly qdrant: string | null; readonly temporal: string | null },
): Promise<Check[]> {
  if (!inspection)
    return ['worker', 'SECRET_KEY', 'stalled runs', 'unfinished files', 'outbox', 'webhooks', 'data sources'].map(
      (name) => skipped(name, 'MongoDB must answer first'),
    );
  return [
    ...(await workers(inspection, temporal)),
    await secrets(config, inspection),
    ...(await stalledRuns(config, inspection, temporal, down)),
    ...(await stuckFiles(config, inspection, temporal)),
    await outbox(inspection),
    ...(await webhooks(inspection)),
    ...(await sources(inspection)),
  ];
}
