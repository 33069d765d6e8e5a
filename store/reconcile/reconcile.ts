import type { Tenant } from '../users/accept.js';
import type { Blobs } from '../contents/blobs.js';
import type { FileSums } from '../files/statistics.js';
import type { Difference, Finding, RepairResult, Progress, ReconcileOptions } from './differences.js';
import { findDifferences, findQuarantinedDifferences, findStrayData } from './findDifferences.js';
import { measure, type MeasuredStores } from './measure.js';
import { createRepairer, type RepairStores } from './repair.js';
import {
  isSettled,
  isSame,
  type LiveRuns,
  liveRuns,
  rangeOf,
  type RecordOfFile,
  recordsAbove,
  recordsOf,
} from './records.js';
import { createStoredFiles } from './storedFiles.js';
import { createCollectionWatch, type CollectionWatch } from './collections.js';
import { createOwners } from './tenants.js';
import { checkVectors } from './vectorSample.js';

/** Number of files that are compared together. */
const FILES_AT_ONCE = 500;

type Stores = MeasuredStores & RepairStores & { readonly blobs: Blobs; readonly sums: Pick<FileSums, 'totalsOfAll'> };

/** Compares records with all data in MongoDB, Qdrant and file storage. */
export interface Reconciliation {
  /**
   * Processes one organization and one user at a time, in bounded memory, while the service runs: files of active runs
   * are skipped. Reports and repairs a difference only if the record is the same after the comparison as before.
   */
  run(options: ReconcileOptions): Promise<Progress>;
}

export function createReconciliation(stores: Stores): Reconciliation {
  const { models, points, blobs } = stores;
  const owners = createOwners(models, points);
  const storedFiles = createStoredFiles(models, blobs);
  const repairer = createRepairer(stores);

  /** Finds unfinished files whose run has ended or does not exist. */
  const findStuck = (files: readonly RecordOfFile[], live: LiveRuns): Map<number, Finding[]> => {
    const stuckFiles = files.filter((file) => !isSettled(file) && !live.owns(file));
    const found = stuckFiles.map(({ _id, runId, syncStatus }): [number, Finding[]] => [
      _id,
      [
        {
          kind: 'stuck',
          what: `is ${syncStatus}, and run ${runId ?? '(none)'} does not process it`,
          repair: runId === null ? null : { do: 'abort', runId },
        },
      ],
    ]);
    return new Map(found);
  };

  /** Returns the files that reference a data source which does not exist. */
  const findWithoutSource = async (tenant: Tenant, files: readonly RecordOfFile[]): Promise<Set<number>> => {
    const sourceIds = [...new Set(files.flatMap(({ dataSourceId }) => dataSourceId ?? []))];
    if (sourceIds.length === 0) return new Set();
    const { organizationId, userId } = tenant;
    const existing = await models.dataSources.distinct('_id', { _id: { $in: sourceIds }, organizationId, userId });
    return new Set(
      files.flatMap((file) => (file.dataSourceId && !existing.includes(file.dataSourceId) ? [file._id] : [])),
    );
  };

  /**
   * Returns the confirmed differences in a range of ids. The difference of a file is confirmed if its record has not
   * changed meanwhile and no active run owns the file now. Data without a record is confirmed if there is still no
   * record.
   */
  async function compare(
    tenant: Tenant,
    { records, range }: { readonly records: readonly RecordOfFile[]; readonly range: ReturnType<typeof rangeOf> },
    options: ReconcileOptions,
    progress: Progress,
    collections: CollectionWatch,
  ): Promise<{ difference: Difference; file: RecordOfFile | null }[]> {
    const live = await liveRuns(models, tenant);
    const measured = await measure(stores, tenant, range, records, options.hasTerms);
    progress.points += measured.points;
    const withoutSource = await findWithoutSource(tenant, records);
    const stuck = findStuck(records, live);
    const recordsById = new Map(records.map((file) => [file._id, file]));
    const findings = new Map<number, Finding[]>(stuck);
    const consistent: RecordOfFile[] = [];
    for (const file of records) {
      if (!isSettled(file)) {
        if (!stuck.has(file._id)) progress.busy += 1;
        continue;
      }
      if (live.owns(file)) {
        progress.busy += 1;
        continue;
      }
      const found = file.isQuarantined
        ? findQuarantinedDifferences(file, measured)
        : findDifferences(file, measured, !live.retags(file), collections.isReadable(file));
      if (!file.isQuarantined && withoutSource.has(file._id))
        found.push({ kind: 'missing_source', what: `references data source ${file.dataSourceId}`, repair: null });
      if (found.length > 0) findings.set(file._id, found);
      if (
        collections.hasReadableVectors(file) &&
        !found.some(({ kind }) => kind === 'missing_points' || kind === 'wrong_count')
      )
        consistent.push(file);
    }
    for (const [id, finding] of await checkVectors(stores, tenant, consistent, collections.points, options))
      findings.set(id, [...(findings.get(id) ?? []), finding]);
    for (const [id, held] of measured.held) if (!recordsById.has(id)) findings.set(id, findStrayData(held));
    if (findings.size === 0) return [];

    const currentRecords = await recordsOf(models, tenant, [...findings.keys()]);
    const liveNow = await liveRuns(models, tenant);
    return [...findings].flatMap(([fileId, found]) => {
      const before = recordsById.get(fileId) ?? null;
      const after = currentRecords.get(fileId);
      const isConfirmed = before ? isSame(before, after) && !liveNow.owns(before) : after === undefined;
      if (!isConfirmed) {
        progress.busy += 1;
        return [];
      }
      const name = before && ` (${before.name ?? before.externalFileId})`;
      return found.map((one) => ({
        difference: { ...one, ...tenant, fileId, what: `file ${fileId}${name ?? ''}: ${one.what}` },
        file: before,
      }));
    });
  }

  /** Finds items whose data source does not exist. */
  async function strayItems({ organizationId, userId }: Tenant): Promise<Difference[]> {
    const tenant = { organizationId, userId };
    const sourceIds = await models.items.distinct('dataSourceId', tenant);
    if (sourceIds.length === 0) return [];
    const existing = await models.dataSources.distinct('_id', { ...tenant, _id: { $in: sourceIds } });
    return sourceIds
      .filter((id) => !existing.includes(id))
      .map((dataSourceId) => ({
        kind: 'stray_items',
        what: `items of data source ${dataSourceId}, which does not exist`,
        repair: { do: 'deleteItems', dataSourceId },
        ...tenant,
        fileId: null,
      }));
  }

  return {
    async run(options) {
      const progress: Progress = { organizations: 0, users: 0, files: 0, busy: 0, points: 0, stored: 0 };
      const repaired = new Set<number>();
      /** Resyncs by file: a file is queued once, however many differences it has. */
      const queued = new Map<number, Promise<string | null>>();
      const resync: ReconcileOptions['resync'] = (owner, fileId) => {
        const queueing = queued.get(fileId) ?? options.resync(owner, fileId);
        queued.set(fileId, queueing);
        return queueing;
      };
      const report = async (difference: Difference, file: RecordOfFile | null): Promise<void> => {
        const outcome: RepairResult | null = options.repairs ? await repairer(difference, file, resync) : null;
        if (outcome?.done === true) repaired.add(difference.organizationId);
        options.onDifference(difference, outcome);
      };

      const collections = await createCollectionWatch(points);
      const organizations = options.organizationId === null ? await owners.organizations() : [options.organizationId];
      for (const organizationId of organizations) {
        for (const userId of await owners.users(organizationId)) {
          const tenant = { organizationId, userId };
          for (let above = 0; ;) {
            const records = await recordsAbove(models, tenant, above, FILES_AT_ONCE);
            const range = rangeOf(above, records, FILES_AT_ONCE);
            queued.clear();
            // Resyncs come last, because they change the record.
            const found = await compare(tenant, { records, range }, options, progress, collections);
            const isLast = ({ difference: { repair } }: (typeof found)[number]): number =>
              repair?.do === 'resync' ? 1 : 0;
            for (const { difference, file } of found.toSorted((a, b) => isLast(a) - isLast(b)))
              await report(difference, file);
            progress.files += records.length;
            options.onProgress?.(progress);
            if (range.upTo === null) break;
            above = range.upTo;
          }
          for (const difference of await strayItems(tenant)) await report(difference, null);
          progress.users += 1;
        }
        for (const difference of await collections.differences(organizationId)) await report(difference, null);
        // The stored sums still count the removed data.
        if (repaired.has(organizationId))
          await models.organizations.organizations.updateOne(
            { _id: organizationId, statistics: { $ne: null } },
            { $set: { statistics: await stores.sums.totalsOfAll(organizationId), statisticsAt: new Date() } },
          );
        progress.organizations += 1;
        options.onProgress?.(progress);
      }
      const onStored = (names: number): void => {
        progress.stored += names;
        options.onProgress?.(progress);
      };
      for await (const difference of storedFiles.differences(options.organizationId, onStored))
        await report(difference, null);
      return progress;
    },
  };
}
