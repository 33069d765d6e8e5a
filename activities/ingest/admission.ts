import { Fault } from '../../contract/failures.js';
import type { EffectiveLimits, LimitName } from '../../contract/limits.js';
import type { Store } from '../../store/connect.js';
import type { FileDoc } from '../../store/models/files.js';

const WAITS = 'It continues when the limit is raised or files are deleted.';
const FAILS = 'Ask the operator to raise the limit, then resync it.';

/**
 * Kind of Fault for each exceeded limit: the file waits (`no_room`) or fails (`over_limit`). The store's `admit`
 * returns only the limits on characters, so the rows of the limits on files are not used.
 */
const REFUSALS: Readonly<Record<LimitName, { kind: 'no_room' | 'over_limit'; advice: string }>> = {
  max_files: { kind: 'no_room', advice: WAITS },
  max_characters: { kind: 'no_room', advice: WAITS },
  max_files_per_upload: { kind: 'over_limit', advice: FAILS },
  max_characters_per_file: { kind: 'over_limit', advice: FAILS },
  max_characters_per_upload: { kind: 'over_limit', advice: FAILS },
};

/** Checks the texts of one batch against the limits of their user, which are read once. */
export function createAdmission(store: Pick<Store, 'limits'>): (file: FileDoc, characters: number) => Promise<void> {
  let limits: Promise<EffectiveLimits> | null = null;
  return async ({ _id: fileId, runId, organizationId, userId }, characters) => {
    const tenant = { organizationId, userId };
    limits ??= store.limits.get(tenant);
    const exceeded = await store.limits.admit({ ...tenant, runId: runId ?? 0, fileId, characters }, await limits);
    if (exceeded === null) return;
    const { kind, advice } = REFUSALS[exceeded];
    throw new Fault(
      kind,
      `The file has ${characters} characters, more than the user's limit ${exceeded} still allows. ${advice}`,
    );
  };
}
