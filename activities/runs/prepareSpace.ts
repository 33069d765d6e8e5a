import { type IngestOptions, wantsVectors } from '../../contract/ingestOptions.js';
import type { RunDoc } from '../../store/runs/model.js';
import type { ActivityDeps } from '../deps.js';

/** What the files of a run are made with, where the run has it for all of them. */
function optionsOf({ options }: Pick<RunDoc, 'options'>): IngestOptions | null {
  return (options as { readonly ingest?: IngestOptions } | null)?.ingest ?? null;
}

/**
 * Begins what takes its time before a run's first vector, while its files are still looked for: the model is loaded, and
 * the space's collection made. Not for a run whose files were there before: it may find that nothing has changed.
 */
export async function prepareSpace(
  run: Pick<RunDoc, 'options' | 'organizationId' | 'userId' | 'fileId'>,
  { store, embeddings }: Pick<ActivityDeps, 'store' | 'embeddings'>,
): Promise<void> {
  const options = optionsOf(run);
  if (options === null || !wantsVectors(options) || options.skipFileProcessing) return;
  const [parent] = run.fileId === null ? [] : await store.files.byIds(run, [run.fileId]);
  if (!parent || parent.lastSync !== null) return;
  const space = embeddings.spaceOf(options.embeddingModel);
  embeddings.prepare(space.name);
  store.vectors.prepare(space);
}
