import { HttpError, notFound } from '../http/errors.js';
import type { FileDoc } from '../../store/models/files.js';
import type { Agent } from './agent.js';
import { cutText, capacityOf } from './bounds.js';
import { uriOf } from './uris.js';

interface Wanted {
  readonly fileId: number;
  readonly offset: number;
  /** Null: the whole text. */
  readonly page: number | null;
  readonly length: number;
}

/** Returns the agent's file. @throws HttpError 404 */
export async function fileOfAgent({ caller, deps }: Agent, fileId: number): Promise<FileDoc> {
  const [file] = await deps.store.files.byIds(caller, [fileId]);
  if (!file) throw notFound('file. list_files lists the files of this user');
  return file;
}

/** @throws HttpError 409 with what to do for a file without text */
function refuseWithoutText({ hasText, isContainer, syncStatus, syncErrorMessage }: FileDoc): void {
  if (hasText) return;
  if (isContainer)
    throw new HttpError(
      409,
      'This file is a site, feed or folder without a text. list_files with parent_id lists its files.',
    );
  throw new HttpError(
    409,
    syncStatus === 'READY'
      ? 'This file has no text. Its original is a resource: its URI followed by /original.'
      : `This file has no text; its state is ${syncStatus}. ${syncErrorMessage ?? 'Call sync_status to see when it is ready.'}`,
  );
}

/**
 * Returns a part of the text of the agent's file that fits in one result, and the offset after it (null at the end).
 * @throws HttpError 404 for an unknown file or page, 409 for a file without text, 422 for an offset at the end or later
 */
export async function readText(agent: Agent, { fileId, offset, page, length }: Wanted) {
  const file = await fileOfAgent(agent, fileId);
  refuseWithoutText(file);
  const { chunks } = agent.deps.store;
  const owner = { ...agent.caller, fileId, generation: file.generation };
  const lastPage = await chunks.lastPage(owner);
  const range = page === null ? { start: 0, end: Infinity } : await chunks.rangeOfPage(owner, page);
  if (range === null)
    throw new HttpError(
      404,
      lastPage === null
        ? 'This file has no pages. Read it by offset.'
        : `There is no text on page ${page}. The last page with text is ${lastPage}.`,
    );
  const head = { file_id: fileId, uri: uriOf(fileId), name: file.name, source: file.source, url: file.externalUrl };
  const capacity = Math.max(0, capacityOf(agent.deps.settings.mcpMaxResultCharacters) - JSON.stringify(head).length);
  // No more than the capacity fits. One more character shows whether a cut there would divide a surrogate pair.
  const maxLength = Math.min(length, range.end - range.start - offset, capacity + 1);
  // One more character shows whether the text continues.
  const read = maxLength <= 0 ? null : await chunks.textFrom(owner, range.start + offset, maxLength + 1);
  if (read === null) throw new HttpError(422, `The text ends before offset ${offset}. Begin at a lower one.`);
  const text = cutText(read.slice(0, maxLength), capacity);
  const end = offset + text.length;
  const continues = text.length < read.length && range.start + end < range.end;
  return { ...head, text, offset, next: continues ? end : null, page, last_page: lastPage };
}
