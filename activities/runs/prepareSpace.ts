import { wantsVectors } from '../../contract/files/ingestOptions.js';
import { isRunOf } from '../../contract/runs/runs.js';
import type { Run } from '../../store/models/runs.js';
import type { ActivityDeps } from '../deps.js';

/** Run kinds of a container whose request contains the processing options of all its files. */
const WITH_INGEST = ['scrapeSitemap', 'webScrape', 'syncFeed'] as const;

/**
 * Loads the model and creates the collection of a run in the background, while its files are discovered. Does nothing
 * for a run over existing files, which may find no changes.
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
