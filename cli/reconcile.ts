/**
 * Runs the comparison of store/reconcile/, and supplies the functions that store/ does not have: they queue resyncs and
 * compute search terms.
 */
import { queueResync } from '../api/files/queueResync.js';
import { HttpError } from '../api/http/errors.js';
import { encodeDocument } from '../providers/embeddings/sparse/sparseEncoder.js';
import type { Store } from '../store/connect.js';
import type { Progress, ReconcileOptions } from '../store/reconcile/differences.js';
import { createDifferenceReport, type DifferenceReport } from '../store/reconcile/report.js';

type Resync = ReconcileOptions['resync'];

/**
 * Queues a resync as POST /resync_file does. The content is read again even if the source reports no change; uploaded
 * chunks stay.
 */
const resyncBy =
  (store: Store): Resync =>
  async (owner, fileId) => {
    const [file] = await store.files.byIds(owner, [fileId]);
    if (!file) return 'the file was deleted in the meantime';
    if (file.dataSourceId !== null) {
      const source = await store.dataSources.find(owner, file.dataSourceId);
      if (source === null || source.revokedAccess)
        return `access to data source ${file.dataSourceId} is revoked; connect the account again, then reconcile again`;
    }
    try {
      const optionsOf = ({ options }: typeof file): typeof file.options => options;
      await queueResync({ store, unit: store }, { ...owner, customerId: file.customerId }, fileId, {
        optionsOf,
        change: { processedAs: null },
        cause: 'command',
      });
      return null;
    } catch (error) {
      if (error instanceof HttpError) return error.message;
      throw error;
    }
  };

interface Options extends Partial<Pick<ReconcileOptions, 'organizationId' | 'repairs' | 'readsAllVectors'>> {
  /** Absent or null: no text is embedded again. */
  readonly embed?: ReconcileOptions['embed'] | null;
}

/** Compares all data, and repairs it if requested. */
export async function reconcile(
  store: Store,
  { organizationId = null, repairs = false, readsAllVectors = false, embed }: Options,
  onProgress?: (progress: Progress) => void,
): Promise<{ readonly report: DifferenceReport; readonly progress: Progress }> {
  const report = createDifferenceReport();
  const progress = await store.reconciliation.run({
    ...{ organizationId, repairs, readsAllVectors },
    ...(embed && { embed }),
    resync: resyncBy(store),
    hasTerms: (text) => encodeDocument(text) !== null,
    onDifference: report.add,
    ...(onProgress && { onProgress }),
  });
  return { report, progress };
}
