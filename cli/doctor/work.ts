/** What the doctor reads of the work that is under way, and of what stands still. */
import type { TemporalInspection } from '../../dispatch/inspect.js';
import type { Inspection } from '../../store/inspection.js';
import { createSecrets } from '../../store/secrets.js';
import { failureSentence } from '../../contract/webhooks.js';
import type { Config } from '../../config/types.js';
import { stalledRuns, workers } from './stalls.js';
import { bad, type Check, ok, skipped, warn } from './check.js';

/** Runs, webhooks, data sources told of at most. */
const MOST = 200;
const EXAMPLES = 5;
const LONG_MS = 60_000;

async function secrets({ secretKeys }: Config, inspection: Inspection): Promise<Check> {
  const name = 'SECRET_KEY';
  const { opened, broken, why } = await inspection.openSecrets(createSecrets(secretKeys));
  if (broken === 0) return ok(name, `opens all ${opened} secrets that are kept`);
  return bad(
    name,
    `${broken} of ${opened + broken} secrets do not open: ${why}`,
    'Put the key that sealed them behind the others in SECRET_KEY, and start API and workers again.',
  );
}

async function stuckFiles(
  { reapIntervalMs }: Config,
  inspection: Inspection,
  temporal: TemporalInspection | null,
): Promise<Check[]> {
  const name = 'files in motion';
  const moving = await inspection.inMotion(MOST);
  const sum = moving.reduce((all, { files }) => all + files, 0);
  const ownerless = moving.filter(({ run }) => run === null);
  const gone: typeof moving = [];
  if (temporal)
    for (const one of moving) {
      const { run } = one;
      const isYoung = run !== null && (run.startedAt === null || Date.now() - run.startedAt.getTime() < LONG_MS);
      if (run && !isYoung && !(await temporal.isAlive(run))) gone.push(one);
    }
  const tell = (some: typeof moving): string =>
    some
      .slice(0, EXAMPLES)
      .map(({ runId, files, example }) => `run ${runId}: ${files} (file ${example}…)`)
      .join(', ');
  return [
    ...(ownerless.length > 0
      ? [
          bad(
            name,
            `no run is at work on ${tell(ownerless)}`,
            'npm run cli -- reconcile --mend ends them; then resync them.',
          ),
        ]
      : []),
    ...(gone.length > 0
      ? [
          warn(
            name,
            `the workflow is gone of ${tell(gone)}`,
            `A worker ends them within ${reapIntervalMs / 1000} s (REAP_INTERVAL_S). If that does not come, look at the worker's log.`,
          ),
        ]
      : []),
    ...(ownerless.length + gone.length === 0 ? [ok(name, `${sum}, no run of them has lost its workflow`)] : []),
  ];
}

async function outbox(inspection: Inspection): Promise<Check> {
  const waiting = await inspection.unstarted(new Date(Date.now() - LONG_MS));
  return waiting === 0
    ? ok('outbox', 'nothing waits for its start')
    : warn(
        'outbox',
        `${waiting} runs wait for their start for more than a minute`,
        "Temporal or all workers were away, or an earlier run of the same thing goes on: see 'run stays in the outbox' in the log.",
      );
}

async function webhooks(inspection: Inspection): Promise<Check[]> {
  const troubled = await inspection.troubledWebhooks(MOST);
  if (troubled.length === 0) return [ok('webhooks', 'none is disabled or failing')];
  return troubled
    .slice(0, EXAMPLES)
    .map(({ _id, organizationId, url, disabledAt, failing, statusReason }) =>
      disabledAt === null
        ? warn(
            'webhooks',
            `webhook ${_id} of organization ${organizationId} (${new URL(url).host}): ${failing ? failureSentence(failing) : statusReason}`,
            `Look at its receiver; GET /webhooks/${_id}/deliveries tells every try.`,
          )
        : warn(
            'webhooks',
            `webhook ${_id} of organization ${organizationId} (${new URL(url).host}) is disabled since ${disabledAt.toISOString()}: its receiver answered that it is gone`,
            'Delete it, and add the new address: POST /add_webhook.',
          ),
    );
}

async function sources(inspection: Inspection): Promise<Check[]> {
  const troubled = await inspection.troubledSources(MOST);
  if (troubled.length === 0) return [ok('data sources', 'none is revoked or in error')];
  const checks = troubled.slice(0, EXAMPLES).map(({ _id, type, customerId, revokedAccess, metadata }) => {
    const which = `data source ${_id} (${type} of ${customerId})`;
    const { items_error, files_error, deletions_held } = metadata as Record<string, string | number | undefined>;
    if (revokedAccess)
      return warn(
        'data sources',
        `${which} has lost its access`,
        'Its user connects the account again, or deletes it.',
      );
    if (Number(deletions_held ?? 0) > 0)
      return warn(
        'data sources',
        `${which} holds ${deletions_held} deletions`,
        `Look at the account, then: npm run cli -- source approve-deletions ${_id}`,
      );
    return warn(
      'data sources',
      `${which}: ${items_error ?? files_error ?? 'its last sync failed'}`,
      'Mend what it says, then sync it again: POST /integrations/items/sync.',
    );
  });
  const more = troubled.length - checks.length;
  return more > 0
    ? [
        ...checks,
        warn(
          'data sources',
          `${more} more${troubled.length === MOST ? ' at least' : ''}`,
          'POST /data_sources lists them.',
        ),
      ]
    : checks;
}

export async function workChecks(
  config: Config,
  inspection: Inspection | null,
  temporal: TemporalInspection | null,
  down: { readonly qdrant: string | null; readonly temporal: string | null },
): Promise<Check[]> {
  if (!inspection)
    return ['worker', 'SECRET_KEY', 'stalled runs', 'files in motion', 'outbox', 'webhooks', 'data sources'].map(
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
