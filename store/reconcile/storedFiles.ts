import { blobKey, type Blobs } from '../contents/blobs.js';
import type { Difference } from './differences.js';
import { isSettled, liveRuns, type Models, type RecordOfFile, recordsOf } from './records.js';

/** A parsed key of file storage. */
type ParsedKey = { readonly key: string; readonly organizationId: number } & (
  | { readonly is: 'original'; readonly id: number }
  | { readonly is: 'ofFile'; readonly fileId: number }
);

/** Number of keys that are compared with records together. */
const AT_ONCE = 500;

/** Parses a key; null if the service never creates such keys. */
export function parseKey(key: string): ParsedKey | null {
  const [, organization, folder, name] = /^(\d+)\/(originals|\d+)\/([\w.-]+)$/.exec(key) ?? [];
  if (organization === undefined || folder === undefined || name === undefined) return null;
  const organizationId = Number(organization);
  if (folder === 'originals')
    return /^\d+$/.test(name) ? { key, organizationId, is: 'original', id: Number(name) } : null;
  return /^\d+\.(raw|[\w-]+\.vectors)$/.test(name)
    ? { key, organizationId, is: 'ofFile', fileId: Number(folder) }
    : null;
}

/** Returns whether a record references a key. */
const isReferenced = (file: RecordOfFile, key: string): boolean =>
  file.coldCopy?.key === key ||
  (file.hasContent &&
    key === blobKey({ organizationId: file.organizationId, fileId: file._id, generation: file.generation }));

/** Finds objects in file storage that no record references. */
export function createStoredFiles(models: Models, blobs: Pick<Blobs, 'keys' | 'size'>) {
  const findStrayOriginals = async (parsedKeys: readonly (ParsedKey & { is: 'original' })[]): Promise<ParsedKey[]> => {
    // The MongoDB record of an original is created before its content is stored, and deleted after its content is
    // deleted. So content without a record is stray.
    const rows = await models.originals.aggregate<{ _id: number; organizationId: number; isInMongoDB: boolean }>([
      { $match: { _id: { $in: parsedKeys.map(({ id }) => id) } } },
      { $project: { organizationId: 1, isInMongoDB: { $ne: ['$bytes', null] } } },
    ]);
    const rowsById = new Map(rows.map((row) => [row._id, row]));
    return parsedKeys.filter(({ id, organizationId }) => {
      const row = rowsById.get(id);
      return !row || row.isInMongoDB || row.organizationId !== organizationId;
    });
  };

  /** Returns the keys that no current record references, unless a run processes their file. */
  const findStrayOfFiles = async (parsedKeys: readonly (ParsedKey & { is: 'ofFile' })[]): Promise<ParsedKey[]> => {
    const records = await recordsOf(
      models,
      {},
      parsedKeys.map(({ fileId }) => fileId),
    );
    const unreferenced: ParsedKey[] = [];
    for (const parsedKey of parsedKeys) {
      const file = records.get(parsedKey.fileId);
      if (!file || file.organizationId !== parsedKey.organizationId) unreferenced.push(parsedKey);
      else if (!isReferenced(file, parsedKey.key) && isSettled(file) && !(await liveRuns(models, file)).owns(file))
        unreferenced.push(parsedKey);
    }
    return unreferenced;
  };

  const findStray = async (parsedKeys: readonly ParsedKey[]): Promise<ParsedKey[]> => [
    ...(await findStrayOriginals(parsedKeys.filter((parsedKey) => parsedKey.is === 'original'))),
    ...(await findStrayOfFiles(parsedKeys.filter((parsedKey) => parsedKey.is === 'ofFile'))),
  ];

  const findDifferences = async (keys: readonly string[]): Promise<Difference[]> => {
    const parsedKeys = keys.map((key) => ({ key, parsedKey: parseKey(key) }));
    const unknownKeys = parsedKeys.filter(({ parsedKey }) => parsedKey === null).map(({ key }) => key);
    const suspects = await findStray(parsedKeys.flatMap(({ parsedKey }) => parsedKey ?? []));
    // Check again, because an operation may have changed a record or the storage meanwhile.
    const confirmed = suspects.length === 0 ? [] : await findStray(suspects);
    const existing = (
      await Promise.all(
        confirmed.map(async (parsedKey) => ((await blobs.size(parsedKey.key)) === null ? [] : [parsedKey])),
      )
    ).flat();
    return [
      ...existing.map((parsedKey): Difference => ({
        kind: 'stray_stored',
        what: `${parsedKey.key} has no record`,
        repair: { do: 'deleteStored', key: parsedKey.key },
        organizationId: parsedKey.organizationId,
        userId: null,
        fileId: parsedKey.is === 'ofFile' ? parsedKey.fileId : null,
      })),
      ...unknownKeys.map((key): Difference => ({
        kind: 'stray_stored',
        what: `${key} is not a key of this service; check the object and move it away`,
        repair: null,
        organizationId: Number.parseInt(key, 10) || 0,
        ...{ userId: null, fileId: null },
      })),
    ];
  };

  return {
    /** @param onChecked receives the number of checked keys */
    async *differences(organizationId: number | null, onChecked: (keys: number) => void): AsyncIterable<Difference> {
      let batch: string[] = [];
      for await (const key of blobs.keys(organizationId)) {
        batch.push(key);
        if (batch.length < AT_ONCE) continue;
        yield* await findDifferences(batch);
        onChecked(batch.length);
        batch = [];
      }
      if (batch.length > 0) yield* await findDifferences(batch);
      onChecked(batch.length);
    },
  };
}
