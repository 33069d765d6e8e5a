import { reembedSkipReason, type ReembedTarget, tokensOf } from '../../contract/runs/reembed.js';
import type { FileDoc } from '../../store/models/files.js';
import type { StartedFile } from '../../store/files/start.js';
import type { ReembedDoc } from '../../store/models/reembeds.js';
import type { ReembedEnd } from '../../store/reembeds/reembeds.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { Store } from '../../store/connect.js';
import { cleanUp, discard, type FileAttempt } from '../generations/cleanUp.js';

/** Returns the outcome of a file whose new vectors are published, for its row in store.reembeds. */
export const reembeddedEnd = (file: FileDoc): ReembedEnd => ({
  fileId: file._id,
  outcome: 'reembedded',
  chunks: file.numChunks,
  tokens: tokensOf(file),
});

/** Ends attempts that were not published: prevents their publication and deletes their data. Safe to repeat. */
export async function discardAttempts(store: Store, run: RunDoc, attempts: readonly StartedFile[]): Promise<void> {
  if (attempts.length === 0) return;
  // Prevent publication first: a worker that was presumed dead could otherwise publish data that is deleted here.
  await store.files.discardVectors(
    run,
    attempts.map(({ file, generation }) => ({ fileId: file._id, generation })),
  );
  await discard(store, attempts);
}

/**
 * Ends attempts that a crashed or cancelled step of the run left unfinished: records published files as re-embedded and
 * deletes their older data; deletes the data of the other attempts. Safe to repeat.
 */
export async function settleAttempts(
  store: Store,
  run: RunDoc,
  rows: readonly Pick<ReembedDoc, 'fileId' | 'from' | 'generation'>[],
): Promise<void> {
  const started = rows.flatMap(({ fileId, from, generation }) =>
    from === null || generation === null ? [] : [{ fileId, from, generation }],
  );
  if (started.length === 0) return;
  await store.files.discardVectors(run, started);
  const { organizationId, userId } = run;
  const files = new Map(
    (
      await store.files.byIds(
        { organizationId, userId },
        started.map(({ fileId }) => fileId),
      )
    ).map((file) => [file._id, file]),
  );
  const published: StartedFile[] = [];
  const unpublished: FileAttempt[] = [];
  for (const { fileId, from, generation } of started) {
    const file = files.get(fileId);
    if (file?.generation === generation) published.push({ file, generation });
    // This generation was not published, or the file was deleted. A deleted file has no record, so the fields that
    // `discard` needs come from the row.
    else unpublished.push({ file: { _id: fileId, organizationId, userId, generation: from }, generation });
  }
  if (published.length > 0) await cleanUp(store, published);
  if (unpublished.length > 0) await discard(store, unpublished);
  await store.reembeds.end(
    run,
    published.map(({ file }) => reembeddedEnd(file)),
  );
}

/** Separates files that keep their vectors, with the reason. Files without a record count as being deleted. */
export function separateSkipped(
  fileIds: readonly number[],
  files: readonly FileDoc[],
  target: ReembedTarget | null,
): { ends: ReembedEnd[]; eligible: FileDoc[] } {
  const filesById = new Map(files.map((file) => [file._id, file]));
  const ends: ReembedEnd[] = [];
  const eligible: FileDoc[] = [];
  for (const fileId of fileIds) {
    const file = filesById.get(fileId);
    const reason = file ? reembedSkipReason(file, target) : 'being_deleted';
    if (reason !== null) ends.push({ fileId, outcome: 'skipped', reason });
    else if (file) eligible.push(file);
  }
  return { ends, eligible };
}
