import type { IngestOptions } from '../../contract/ingestOptions.js';
import { CONTAINER_WORKFLOW_IDS, type ContainerRunKind } from '../../contract/orchestration.js';
import type { TagValue } from '../../contract/records.js';
import type { SourceType } from '../../contract/sources.js';
import type { Store } from '../../store/connect.js';
import type { DataSourceDoc } from '../../store/dataSources/model.js';
import type { FileDoc } from '../../store/files/model.js';
import type { RunDoc } from '../../store/runs/model.js';
import type { Session } from '../../store/sequence.js';
import { HttpError } from '../http/errors.js';
import type { UserCaller } from '../http/operation.js';

/** A scrape, crawl or feed as its run keeps it. */
export interface ParentRequest {
  /** Normalised. */
  readonly url: string;
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly ingest: IngestOptions;
  /** What the parent's record keeps, for the run to be made again. */
  readonly scrape: unknown;
}

export interface NewParent {
  readonly runId: number;
  readonly requestId: string;
  readonly kind: ContainerRunKind;
  readonly source: SourceType;
  readonly externalFileId: string;
  readonly request: ParentRequest;
  readonly enableAutoSync: boolean | null;
  /** Tokens that the run may have embedded at most; absent: any number. */
  readonly maxTokens?: number | undefined;
  readonly facts?: Readonly<Record<string, unknown>>;
  /** The data source that the parent and its children lie in; absent for none. */
  readonly dataSource?: DataSourceDoc;
}

export interface AcceptedParent {
  readonly parent: FileDoc;
  /** Its run; null where the parent was known before, so that an earlier run may still wait. */
  readonly first: RunDoc | null;
}

/**
 * Accepts the parent file and the run that will find its children, in the caller's transaction.
 * @throws HttpError 409 when the address is known as a page
 */
export async function acceptParent(
  caller: UserCaller,
  {
    runId,
    requestId,
    kind,
    source,
    externalFileId,
    request,
    enableAutoSync,
    facts = {},
    dataSource,
    maxTokens,
  }: NewParent,
  store: Store,
  session: Session,
): Promise<AcceptedParent> {
  const workflowOf = CONTAINER_WORKFLOW_IDS[kind];
  const { file: parent, isNew } = await store.files.accept(
    caller,
    {
      source,
      externalFileId,
      externalUrl: request.url,
      name: request.url,
      parentId: null,
      isContainer: true,
      runKind: kind,
      facts,
      ...(dataSource && { dataSource }),
      tags: request.tags,
      options: request.ingest,
      sourceOptions: request.scrape,
      enableAutoSync,
      requestId,
      runId,
      workflowOf,
    },
    session,
  );
  if (!parent.isContainer)
    throw new HttpError(409, `This address is known as a page, file ${parent._id}. Delete that file first.`);
  const run = await store.runs.accept(
    runId,
    {
      kind,
      workflowId: workflowOf(parent._id),
      owner: caller,
      fileId: parent._id,
      ...(dataSource && { dataSourceId: dataSource._id }),
      requestId,
      options: request,
      ...(maxTokens !== undefined && { maxTokens }),
    },
    session,
  );
  // What is new has no schedule that could be to end.
  if (!isNew || enableAutoSync === true)
    await store.schedules.lookAtContainer(caller, parent._id, enableAutoSync === true, session);
  return { parent, first: isNew ? run : null };
}
