import { CONTAINER_WORKFLOW_IDS } from '../../contract/runs/workflowIds.js';
import type { ContainerRunKind } from '../../contract/runs/runKinds.js';
import type { NewWork } from '../../contract/runs/runs.js';
import type { SourceType } from '../../contract/sources/sources.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { FileRequest } from '../../store/files/acceptance/request.js';
import type { FileDoc } from '../../store/models/files.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { Session } from '../../store/database/sequence.js';
import type { ApiDeps } from '../http/deps.js';
import { HttpError } from '../http/errors.js';
import type { UserCaller } from '../http/operation.js';

export interface NewParent {
  readonly runId: number;
  readonly requestId: string;
  /** Kind and request of the run. The parent's record stores both too, for later runs. */
  readonly work: NewWork<ContainerRunKind>;
  readonly source: SourceType;
  readonly externalFileId: string;
  readonly enableAutoSync: boolean | null;
  /** Maximum number of tokens that the run embeds; absent: unlimited. */
  readonly maxTokens?: number | undefined;
  readonly fileMetadata?: Readonly<Record<string, unknown>>;
  /** The data source of the parent and its children; absent if there is none. */
  readonly dataSource?: DataSourceDoc;
}

export interface AcceptedParent {
  readonly parent: FileDoc;
  /**
   * The accepted run if the parent is new: `unit.start` starts it without a search for earlier runs of the parent. Null
   * if the parent already existed, because an earlier run that still waits must start first.
   */
  readonly first: RunDoc | null;
}

/** Returns the parent's file record. */
const fileOf = ({ work: { kind, request }, fileMetadata = {}, dataSource, ...parent }: NewParent): FileRequest => ({
  source: parent.source,
  externalFileId: parent.externalFileId,
  externalUrl: request.url,
  name: request.url,
  parentId: null,
  isContainer: true,
  runKind: kind,
  fileMetadata,
  ...(dataSource && { dataSource }),
  tags: request.tags,
  options: request.ingest,
  sourceOptions: request.scrape,
  enableAutoSync: parent.enableAutoSync,
  requestId: parent.requestId,
  runId: parent.runId,
  workflowOf: CONTAINER_WORKFLOW_IDS[kind],
});

/** Returns the run that finds the parent's children. */
const runOf = (owner: UserCaller, fileId: number, { work, dataSource, maxTokens, requestId }: NewParent) => ({
  ...work,
  workflowId: CONTAINER_WORKFLOW_IDS[work.kind](fileId),
  owner,
  fileId,
  ...(dataSource && { dataSourceId: dataSource._id }),
  requestId,
  ...(maxTokens !== undefined && { maxTokens }),
});

/**
 * Accepts the parent file and the run that finds its children, in the caller's transaction.
 * @throws HttpError 409 if the URL belongs to a page
 */
export async function acceptParent(
  caller: UserCaller,
  parent: NewParent,
  store: ApiDeps['store'],
  session: Session,
): Promise<AcceptedParent> {
  const { file, isNew } = await store.files.accept(caller, fileOf(parent), session);
  if (!file.isContainer)
    throw new HttpError(409, `This address is known as a page, file ${file._id}. Delete that file first.`);
  const run = await store.runs.accept(parent.runId, runOf(caller, file._id, parent), session);
  const isAutoSynced = parent.enableAutoSync === true;
  // A new container has no schedule to remove.
  if (!isNew || isAutoSynced) await store.schedules.markContainer(caller, file._id, isAutoSynced, session);
  return { parent: file, first: isNew ? run : null };
}

/**
 * Accepts the parent file and its run. Most parents are new, without a schedule or a data source: concurrent requests
 * write these in one shared transaction. All others are written in a transaction of their own.
 */
export async function acceptSingleParent(
  caller: UserCaller,
  parent: NewParent,
  { store, unit }: ApiDeps,
): Promise<AcceptedParent> {
  if (parent.enableAutoSync !== true && parent.dataSource === undefined) {
    const file = store.files.draft(await store.files.nextId(), caller, fileOf(parent));
    const run = store.runs.draft(parent.runId, runOf(caller, file._id, parent));
    if (await unit.acceptContainer({ file, run })) return { parent: file, first: run };
  }
  return unit.transaction((session) => acceptParent(caller, parent, store, session));
}
