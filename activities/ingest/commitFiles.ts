import { mediaTypeOf } from '../../contract/files/mediaTypes.js';
import type { ProcessedDocument } from '../../documents/types.js';
import type { Store } from '../../store/connect.js';
import { cleanUp, discard } from '../generations/cleanUp.js';
import { pointPayload, tenantOf } from '../generations/points.js';
import { publishWithTags } from '../generations/publishWithTags.js';
import type { PreparedFile } from './prepare/preparedFile.js';

/** Returns the text of a document and the positions of its chunks. */
const textOf = ({ text, prefix, cuts }: ProcessedDocument) => ({ text, prefix, cuts });

/**
 * Writes the contents and chunks of prepared files, then their points. Then publishes them in one update, and deletes
 * the old generations. After a crash in between, the next attempt writes a new generation and deletes this one.
 */
export async function commitFiles(store: Store, prepared: readonly PreparedFile[]): Promise<void> {
  await Promise.all([
    store.contents.write(prepared.flatMap(({ content }) => content ?? [])),
    store.chunks.write(
      prepared.flatMap(({ started: { file, generation }, document }) =>
        document === null ? [] : [{ ...tenantOf(file), fileId: file._id, generation, ...textOf(document) }],
      ),
    ),
  ]);
  const withVectors = prepared.filter(({ space, vectors }) => space !== null && vectors.length > 0);
  const ancestors = await store.files.ancestorsOf(withVectors.map(({ started }) => started.file));
  await store.vectors.upsert(
    withVectors.flatMap(({ started: { file, generation }, finished, space, vectors, sparseOf }) =>
      space === null
        ? []
        : [
            {
              ...pointPayload(file, ancestors),
              generation,
              space,
              model: finished.model ?? file.options.embeddingModel,
              mediaType: mediaTypeOf(finished.content.statistics?.fileFormat ?? null, finished.content.hasText),
              vectors,
              ...(sparseOf ? { sparseOf } : {}),
            },
          ],
    ),
  );
  const published = new Set(
    await publishWithTags(
      store,
      prepared.map(({ finished }) => finished),
      (syncs) => store.files.finish(syncs),
    ),
  );
  const done = prepared.filter(({ started }) => published.has(started.file._id));
  const superseded = prepared.filter(({ started }) => !published.has(started.file._id));
  const withOlder = done.filter(({ started }) => started.generation > 1);
  if (withOlder.length > 0)
    await cleanUp(
      store,
      withOlder.map(({ started }) => started),
    );
  if (superseded.length > 0)
    await discard(
      store,
      superseded.map(({ started }) => started),
    );
}
