import { wantsVectors } from '../../contract/ingestOptions.js';
import { isRunOf } from '../../contract/runs.js';
import type { Run } from '../../store/runs/model.js';
import type { ActivityDeps } from '../deps.js';

/** The kinds whose request says how all files of the run are processed. */
const WITH_INGEST = ['scrapeSitemap', 'webScrape', 'syncFeed', 'syncSource'] as const;

/**
 * Begins what takes its time before a run's first vector, while its files are still looked for: the model is loaded, and
 * the space's collection made. Not for a run whose files were there before: it may find that nothing has changed.
 */
export async function prepareSpace(
  run: Run,
  { store, embeddings }: Pick<ActivityDeps, 'store' | 'embeddings'>,
): Promise<void> {
  if (!isRunOf(run, ...WITH_INGEST)) return;
  const options = run.request.ingest;
  if (!wantsVectors(options) || options.skipFileProcessing) return;
  const [parent] = run.fileId === null ? [] : await store.files.byIds(run, [run.fileId]);
  if (!parent || parent.lastSync !== null) return;
  const space = embeddings.spaceOf(options.embeddingModel);
  embeddings.prepare(space.name);
  store.vectors.prepare(space);
}
