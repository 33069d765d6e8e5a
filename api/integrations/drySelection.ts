import type { SourceItem } from '../../connectors/sourceItem.js';
import { Fault } from '../../contract/failures.js';
import { supportsOption } from '../../contract/sources/sources.js';
import { becomesFile } from '../../contract/sources/typesAtSource.js';
import type { Selection } from '../../store/connections/acceptRuns.js';
import type { ApiDeps } from '../http/deps.js';
import type { UserCaller } from '../http/operation.js';
import { faultAnswer } from './callSource.js';
import { accountOf, type ConnectedDataSource } from './dataSourceOf.js';
import type { SkippedByDryRun } from '../schemas/estimates.js';
import { type Deadline, FILES_AT_ONCE, readSample, sampleEvenly } from '../dryRuns/deadline.js';
import { estimateOf } from '../dryRuns/estimate.js';

/** Kinds of errors that concern a single item; the estimate continues without it. */
const OF_ONE_ITEM: readonly Fault['kind'][] = ['not_found', 'access_denied'];

/**
 * Estimates the sync of a selection: lists its items at the source, as a run does, and reads a sample of them.
 */
export async function drySelection(
  caller: UserCaller,
  source: ConnectedDataSource,
  { externalIds, ingest, incremental = false }: Selection & { readonly externalIds: readonly string[] },
  { discovery, total }: Deadline,
  deps: ApiDeps,
) {
  const { samples, settings, store } = deps;
  const account = accountOf(source, deps);
  const maxFiles = (await store.limits.get(caller)).max_files_per_upload ?? Infinity;
  const selectedItems = new Map<string, Pick<SourceItem, 'externalId' | 'name'>>();
  /**
   * External ids of the items that are counted already: as selected, `already_synced` or `over_limit`. Each item counts
   * once, even if it is below two selected items.
   */
  const seenIds = new Set<string>();
  const skipped: Partial<Record<SkippedByDryRun, number>> = {};
  const skip = (reason: SkippedByDryRun, number = 1): void =>
    void (number > 0 && (skipped[reason] = (skipped[reason] ?? 0) + number));
  let complete = true;

  const addItems = async (items: readonly SourceItem[], selectedId: string): Promise<void> => {
    const candidates = items.filter(
      (item) => !seenIds.has(item.externalId) && becomesFile(item, item.externalId === selectedId, ingest),
    );
    const ids = candidates.map(({ externalId }) => externalId);
    const copies =
      incremental && supportsOption(source.type, 'incremental_sync')
        ? await store.items.syncedCopies(source, ids, ingest)
        : new Map<string, unknown>();
    for (const { externalId, name } of candidates) {
      if (seenIds.has(externalId)) continue;
      seenIds.add(externalId);
      if (copies.has(externalId)) skip('already_synced');
      else if (selectedItems.size >= maxFiles) skip('over_limit');
      else selectedItems.set(externalId, { externalId, name });
    }
  };
  const walk = async (selectedId: string): Promise<void> => {
    for (let cursor: string | null = null, hasNext = true; hasNext; hasNext = cursor !== null) {
      discovery.throwIfAborted();
      const page: Awaited<ReturnType<typeof account.listDescendants>> = await account.listDescendants(
        selectedId,
        cursor,
        discovery,
        ingest,
      );
      await addItems(page.items, selectedId);
      skip('not_found', page.refused?.length ?? 0);
      if (page.isPartial) complete = false;
      cursor = page.next;
    }
  };

  for (const selectedId of new Set(externalIds)) {
    try {
      await walk(selectedId);
    } catch (error) {
      if (discovery.aborted) {
        complete = false;
        break;
      }
      if (!(error instanceof Fault)) throw error;
      if (!OF_ONE_ITEM.includes(error.kind)) throw faultAnswer(error);
      skip('not_found');
    }
  }
  const items = [...selectedItems.values()];
  const read = (item: (typeof items)[number]) => samples.item(account, item, ingest, total);
  const sample = await readSample(sampleEvenly(items, settings.dryRun.samplePages), FILES_AT_ONCE, read, total);
  return estimateOf(caller, 'syncSource', ingest, { files: items.length, complete, ...sample, skipped }, deps);
}
