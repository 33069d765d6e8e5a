import { blobKey, type Blobs } from '../contents/blobs.js';
import type { Difference } from './differences.js';
import { isSettled, liveRuns, type Models, type RecordOfFile, recordsOf } from './records.js';

/** A parsed key of file storage. */
type Name = { readonly key: string; readonly organizationId: number } & (
  | { readonly is: 'original'; readonly id: number }
  | { readonly is: 'ofFile'; readonly fileId: number }
);

/** Number of keys that are compared with records together. */
const AT_ONCE = 500;

/** Parses a key; null if the service never creates such keys. */
export function readName(key: string): Name | null {
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

/** Finds objects in file storage without an owner. */
export function createStoredFiles(models: Models, blobs: Pick<Blobs, 'keys' | 'size'>) {
  const findStrayOriginals = async (names: readonly (Name & { is: 'original' })[]): Promise<Name[]> => {
    // The MongoDB record of an original is created before its content is stored, and deleted after it.
    const rows = await models.originals.aggregate<{ _id: number; organizationId: number; isRow: boolean }>([
      { $match: { _id: { $in: names.map(({ id }) => id) } } },
      { $project: { organizationId: 1, isRow: { $ne: ['$bytes', null] } } },
    ]);
    const rowsById = new Map(rows.map((row) => [row._id, row]));
    return names.filter(({ id, organizationId }) => {
      const row = rowsById.get(id);
      return !row || row.isRow || row.organizationId !== organizationId;
    });
  };

  /** Returns the keys that no current record references, unless a run processes their file. */
  const findStrayOfFiles = async (names: readonly (Name & { is: 'ofFile' })[]): Promise<Name[]> => {
    const records = await recordsOf(
      models,
      {},
      names.map(({ fileId }) => fileId),
    );
    const unreferenced: Name[] = [];
    for (const name of names) {
      const file = records.get(name.fileId);
      if (!file || file.organizationId !== name.organizationId) unreferenced.push(name);
      else if (!isReferenced(file, name.key) && isSettled(file) && !(await liveRuns(models, file)).owns(file))
        unreferenced.push(name);
    }
    return unreferenced;
  };

  const findStray = async (names: readonly Name[]): Promise<Name[]> => [
    ...(await findStrayOriginals(names.filter((name) => name.is === 'original'))),
    ...(await findStrayOfFiles(names.filter((name) => name.is === 'ofFile'))),
  ];

  const findDifferences = async (keys: readonly string[]): Promise<Difference[]> => {
    const names = keys.map((key) => ({ key, name: readName(key) }));
    const unknownKeys = names.filter(({ name }) => name === null).map(({ key }) => key);
    const suspects = await findStray(names.flatMap(({ name }) => name ?? []));
    // Check again, because an operation may have changed a record or the storage meanwhile.
    const confirmed = suspects.length === 0 ? [] : await findStray(suspects);
    const existing = (
      await Promise.all(confirmed.map(async (name) => ((await blobs.size(name.key)) === null ? [] : [name])))
    ).flat();
    return [
      ...existing.map((name): Difference => ({
        kind: 'stray_stored',
        what: `${name.key} has no record`,
        repair: { do: 'deleteStored', key: name.key },
        organizationId: name.organizationId,
        userId: null,
        fileId: name.is === 'ofFile' ? name.fileId : null,
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
    async *differences(organizationId: number | null, onChecked: (names: number) => void): AsyncIterable<Difference> {
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
