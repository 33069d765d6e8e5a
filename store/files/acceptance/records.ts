/** Records of accepted files: of new files, and of existing files that another request takes over. */
import type { QueryFilter } from 'mongoose';

import { fileTags, storedTags, tagPairs, upsertTags } from '../../../contract/files/tags.js';
import type { FileDoc } from '../../models/files.js';
import type { Tenant } from '../../users/accept.js';
import { RESET_BY_NEW_SYNC, stateOf, transition, type Write } from '../transitions.js';
import { accountOf, type FileRequest, type KnownFile } from './request.js';

/** The user whose files are accepted. */
export type FileOwner = Tenant & { readonly customerId: string };

const QUEUE_FULL = 'It waits, because the maximum number of queued files of the user is reached.';

/** Fields of a file that waits for its run. Content of an earlier sync stays readable. */
function requestedFields(
  request: FileRequest,
  fileId: number,
  existing: KnownFile | null,
  now: Date,
): Omit<Partial<FileDoc>, 'syncStatus'> {
  const tags = upsertTags(existing?.tags ?? [], storedTags(request.tags));
  const { dataSource } = request;
  const sourceTags = dataSource?.tags ?? [];
  return {
    externalUrl: request.externalUrl,
    parentId: request.parentId,
    tags,
    tagPairs: tagPairs(fileTags({ tags, sourceTags })),
    tagsRevision: (existing?.tagsRevision ?? 0) + 1,
    ...(dataSource ? { dataSourceId: dataSource._id, sourceTags, sourceTagsVersion: dataSource.tagsVersion } : {}),
    options: request.options,
    sourceOptions: request.sourceOptions,
    enableAutoSync: request.enableAutoSync,
    requestId: request.requestId,
    runId: request.runId,
    workflowId: request.workflowOf(fileId),
    ...(request.runKind === undefined ? {} : { runKind: request.runKind }),
    ...(request.sourceCreatedAt ? { sourceCreatedAt: request.sourceCreatedAt } : {}),
    listedVersion: request.version ?? null,
    ...(request.typeAtSource === undefined ? {} : { fileTypeAtSource: request.typeAtSource }),
    ...request.upload,
    ...RESET_BY_NEW_SYNC,
    restoredAt: null,
    updatedAt: now,
  };
}

/** Returns the filter of the one file that a request refers to. */
export const identityOf = ({ organizationId, userId }: Tenant, request: FileRequest) => ({
  organizationId,
  userId,
  source: request.source,
  externalFileId: request.externalFileId,
  accountId: accountOf(request),
});

/** Time at which a file is accepted, and whether the queue of its user has room for it. */
interface Acceptance {
  readonly now: Date;
  readonly fitsQueue: boolean;
}

/** Returns the write that assigns an existing file to the request's run. */
export function acceptedWrite(
  owner: Tenant,
  request: FileRequest,
  existing: KnownFile,
  { now, fitsQueue, where = {} }: Acceptance & { readonly where?: QueryFilter<FileDoc> },
): Write {
  const { source, externalFileId, accountId } = identityOf(owner, request);
  return transition(fitsQueue ? 'accept' : 'acceptDelayed', {
    owner,
    where: { source, externalFileId, accountId, ...where },
    message: fitsQueue ? null : QUEUE_FULL,
    set: requestedFields(request, existing._id, existing, now),
  });
}

/** Returns the record of a new file. @param blank a record with the defaults of all fields */
export const newFile = (
  blank: FileDoc,
  _id: number,
  owner: FileOwner,
  request: FileRequest,
  { now, fitsQueue }: Acceptance,
): FileDoc => ({
  ...blank,
  ...identityOf(owner, request),
  ...requestedFields(request, _id, null, now),
  ...stateOf(fitsQueue ? 'create' : 'createDelayed'),
  syncErrorMessage: fitsQueue ? null : QUEUE_FULL,
  _id,
  customerId: owner.customerId,
  isContainer: request.isContainer,
  name: request.name,
  createdAt: now,
});
