import type { DocumentFormat } from '../../../contract/files/fileFormats.js';
import { Fault } from '../../../contract/failures.js';
import {
  uploadRecordFields,
  mediaTypeHint,
  nameInUrl,
  RAW_TEXT_SOURCE,
  UPLOAD_SOURCES,
  type UploadOptions,
} from '../../../contract/files/uploads.js';
import type { StartedFile } from '../../../store/files/start.js';
import type { FileDoc } from '../../../store/models/files.js';
import type { ActivityDeps, OpenedOriginal } from '../../deps.js';

/** Whether a caller uploaded the file. The content of an upload is stored once, separately from its generations. */
export const isUploaded = ({ source, original }: FileDoc): boolean =>
  Boolean(original) || UPLOAD_SOURCES.includes(source);

/** Fields of file_metadata that are set when a file arrives and that later syncs keep. */
const LASTING_FIELDS = ['named_as'];

const lastingMetadata = ({ fileMetadata }: FileDoc): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fileMetadata).filter(([name]) => LASTING_FIELDS.includes(name)));

/**
 * Returns the file with stored content. If the caller sent only a URL, the content is fetched once, stored, and then
 * treated as an upload.
 * @throws Fault if it cannot be fetched or has an unreadable type
 */
export async function withOriginal(
  runId: number,
  started: StartedFile,
  deps: ActivityDeps,
  signal: AbortSignal,
): Promise<StartedFile> {
  const { file, generation } = started;
  if (file.original) return started;
  const options = file.sourceOptions as UploadOptions | null;
  if (!options?.url) throw new Fault('gone', 'The uploaded content was deleted. Upload it again.');
  const { store, sources } = deps;
  const updatedFile = await sources.download(options.url, signal, async (download) => {
    const draft = await store.originals.receive(file, download.body);
    const { id, size, sha256 } = draft;
    try {
      const name = options.fileName ?? download.name ?? nameInUrl(download.finalUrl);
      const contentType = mediaTypeHint(download.contentType);
      const identified = deps.identify({ bytes: draft.head, contentType, name });
      const { source, statistics } = uploadRecordFields(identified, name, size);
      const sourceOptions = { ...options, contentType };
      const change = { original: { id, size, sha256 }, source, name, statistics, sourceOptions };
      return await store.transaction(async (session) => {
        const changed = await store.files.setOriginal(runId, file._id, change, session);
        if (changed) await store.originals.accept(draft, file._id, session);
        return changed;
      });
    } finally {
      // Does nothing if the content already belongs to the file.
      await store.originals.discard(draft);
    }
  });
  // Another run owns the file now, so its record does not get this error.
  if (!updatedFile) throw new Fault('gone', 'The file was taken over by another run.');
  return { file: updatedFile, generation };
}

/** Returns the format that the sender declared, for types that the content alone does not determine. */
const readAs = ({ source }: FileDoc): DocumentFormat | null => (source === RAW_TEXT_SOURCE ? 'TXT' : null);

/**
 * Opens the uploaded content of a file.
 * @param withContent whether the bytes are needed, or only the metadata
 */
export async function openOriginal(file: FileDoc, deps: ActivityDeps, withContent: boolean): Promise<OpenedOriginal> {
  const { organizationId, _id: fileId, original, statistics } = file;
  if (!original) throw new Error(`File ${fileId} has no uploaded content`);
  const opened = withContent ? await deps.store.originals.open({ organizationId, fileId }, original.id) : null;
  if (withContent && opened === null)
    throw new Fault('gone', 'The uploaded content no longer exists. Upload it again.');
  return {
    bytes: opened && 'bytes' in opened ? opened.bytes : new Uint8Array(),
    path: opened && 'path' in opened ? opened.path : null,
    contentType: (file.sourceOptions as UploadOptions | null)?.contentType ?? null,
    format: statistics?.fileFormat ?? 'TXT',
    mimeType: statistics?.mimeType ?? 'text/plain',
    url: file.name ?? '',
    html: { tags: [], classes: [], selectors: [] },
    validators: { etag: null, lastModified: null },
    fileMetadata: lastingMetadata(file),
    size: original.size,
    hash: original.sha256,
    readAs: readAs(file),
    close: () => opened?.close() ?? Promise.resolve(),
  };
}
