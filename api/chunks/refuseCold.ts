import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import type { Tenant } from '../../store/users/accept.js';
import type { ChunkFilter } from '../../store/vectors/searchFilter.js';
import type { ApiDeps } from '../http/deps.js';
import { HttpError } from '../http/errors.js';

/** Maximum number of files in the message. */
const MAX_NAMED = 100;

/** @throws HttpError 409 that names files in cold storage which the search would miss */
export async function refuseCold(
  caller: Tenant,
  model: EmbeddingModelId,
  filter: ChunkFilter,
  { store }: Pick<ApiDeps, 'store'>,
): Promise<void> {
  const ids = await store.coldFiles.findForSearch(caller, model, filter, MAX_NAMED + 1);
  if (ids.length === 0) return;
  const more = ids.length > MAX_NAMED ? ' and more' : '';
  throw new HttpError(
    409,
    `These files are in cold storage: ${ids.slice(0, MAX_NAMED).join(', ')}${more}. Call POST /move_to_hot_storage with their ids and search again once they are in HOT_STORAGE, or set exclude_cold_storage_files to exclude them.`,
  );
}
