import { LIMIT_METADATA } from '../../../contract/limits.js';
import { Fault } from '../../../contract/failures.js';
import { tagObject } from '../../../contract/files/tags.js';
import {
  uploadRecordFields,
  mediaTypeHint,
  MAX_ATTACHMENT_DEPTH,
  type UploadOptions,
} from '../../../contract/files/uploads.js';
import type { Attachment } from '../../../documents/types.js';
import type { FileDoc } from '../../../store/models/files.js';
import type { ActivityDeps } from '../../deps.js';

/** Maximum number of skipped files that the record lists. */
const SKIPPED_SHOWN = 20;
/** Maximum number of existing children of a file that are read. */
const MAX_CHILDREN = 10_000;

/** Fields of the parent's file_metadata about attachments for which no file was created. */
interface AttachmentSummary {
  readonly attachments_skipped?: readonly { readonly name: string; readonly reason: string }[];
  readonly limit_reached?: string;
}

// oxlint-disable-next-line require-await -- the interface is an async iterable, and the bytes are already in memory
async function* iterableOf(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

/**
 * Creates a child for each contained file, queued in the same run with the same options and tags. Skips unreadable
 * files. Safe to repeat.
 * @returns the skipped files, for the metadata of the parent
 */
export async function acceptAttachments(
  runId: number,
  parent: FileDoc,
  attachments: readonly Attachment[],
  deps: ActivityDeps,
): Promise<AttachmentSummary> {
  const { store } = deps;
  const tenant = { organizationId: parent.organizationId, userId: parent.userId };
  const depth = ((parent.sourceOptions as UploadOptions | null)?.depth ?? 0) + 1;
  const skipped: { name: string; reason: string }[] = [];
  const skip = (name: string, reason: string): void => {
    if (skipped.length < SKIPPED_SHOWN) skipped.push({ name, reason });
  };
  const ids = await store.files.ids(tenant, { parentFileIds: [parent._id] }, MAX_CHILDREN);
  const children = new Map((await store.files.byIds(tenant, ids)).map((child) => [child.externalFileId, child]));
  const { max_files_per_upload: perUpload } = await store.limits.get(tenant);
  let capacity = perUpload === null ? Infinity : perUpload - (await store.files.countRun(runId)).total;
  let overLimit = false;

  for (const [index, { name, contentType, bytes }] of attachments.entries()) {
    if (depth > MAX_ATTACHMENT_DEPTH) {
      skip(name, `It is nested more than ${MAX_ATTACHMENT_DEPTH} files deep.`);
      continue;
    }
    const externalFileId = `${parent.externalFileId}/${index}`;
    const child = children.get(externalFileId) ?? null;
    if (child?.runId !== runId) {
      if (capacity <= 0) {
        overLimit = true;
        break;
      }
      const reason = await accept(runId, parent, { name, contentType, bytes, externalFileId, depth, child }, deps);
      if (reason !== null) {
        skip(name, reason);
        continue;
      }
      capacity -= 1;
    }
  }
  return {
    ...(skipped.length > 0 ? { attachments_skipped: skipped } : {}),
    ...(overLimit ? LIMIT_METADATA : {}),
  };
}

interface FoundAttachment extends Attachment {
  readonly externalFileId: string;
  /** Nesting depth: the number of files that contain it. */
  readonly depth: number;
  /** The file that an earlier sync created for the attachment; null if there is none. */
  readonly child: FileDoc | null;
}

/** Queues one attachment; returns the reason if it is skipped, or null. */
async function accept(
  runId: number,
  parent: FileDoc,
  { name, contentType, bytes, externalFileId, depth, child }: FoundAttachment,
  { store, identify }: ActivityDeps,
): Promise<string | null> {
  const { organizationId, userId, customerId } = parent;
  const declared = mediaTypeHint(contentType);
  let fields: ReturnType<typeof uploadRecordFields>;
  try {
    fields = uploadRecordFields(identify({ bytes, contentType: declared, name }), name, bytes.byteLength);
  } catch (error) {
    if (error instanceof Fault) return error.message;
    throw error;
  }
  const draft = await store.originals.receive({ organizationId, userId }, iterableOf(bytes));
  const { id, size, sha256 } = draft;
  const sameContent = child?.original?.sha256 === sha256 ? child.original : null;
  try {
    await store.transaction(async (session) => {
      const { file } = await store.files.accept(
        { organizationId, userId, customerId },
        {
          source: fields.source,
          externalFileId,
          externalUrl: null,
          name,
          parentId: parent._id,
          // External ids are unique only within an account: two accounts may contain the same ids.
          accountId: parent.accountId ?? null,
          isContainer: false,
          tags: tagObject(parent.tags) ?? {},
          options: parent.options,
          sourceOptions: { url: null, contentType: declared, depth } satisfies UploadOptions,
          upload: {
            uploadId: parent.uploadId,
            original: sameContent ?? { id, size, sha256 },
            statistics: child?.statistics ?? fields.statistics,
            ocrProperties: parent.ocrProperties,
            supportsColdStorage: parent.supportsColdStorage,
            hotStorageTimeToLive: parent.hotStorageTimeToLive,
          },
          enableAutoSync: null,
          requestId: parent.requestId ?? '',
          runId,
          workflowOf: () => parent.workflowId ?? '',
        },
        session,
      );
      if (sameContent) return;
      await store.originals.accept(draft, file._id, session);
      const owner = { organizationId, userId, fileId: file._id };
      if (child?.original) await store.originals.release(owner, child.original.id, session);
    });
    return null;
  } finally {
    // Does nothing if the content already belongs to the child.
    await store.originals.discard(draft);
  }
}
