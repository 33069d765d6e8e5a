import { coalesce } from '../../contract/coalesce.js';
import type { UnchangedFile } from '../../store/files/finish.js';
import type { StartedFile } from '../../store/files/start.js';
import type { FoundLinks } from '../../store/frontier/frontier.js';
import { commitFiles } from './commitFiles.js';
import type { ActivityDeps } from '../deps.js';
import type { PreparedFile } from './prepare/preparedFile.js';

/** Milliseconds that a write of starts, or of found links, waits for further ones. */
const START_WAIT_MS = 4;
/** Maximum number of starts per write. */
const START_FILES = 50;
/** Milliseconds that a write of finished files waits for further ones. */
const COMMIT_WAIT_MS = 30;
/** Maximum number of finished files, or of lists of found links, per write. */
const COMMIT_FILES = 32;

/** A file that a batch is about to start. */
export interface StartRequest {
  readonly runId: number;
  readonly fileId: number;
}

/**
 * The writes of ingested files, combined over all batches of this worker, because one write for many files costs little
 * more than for one.
 */
export interface IngestWrites {
  /** Returns null if the file is done or no longer belongs to the run. */
  readonly start: (request: StartRequest) => Promise<StartedFile | null>;
  readonly commit: (prepared: PreparedFile) => Promise<void>;
  readonly finishUnchanged: (unchanged: UnchangedFile) => Promise<void>;
  readonly keepLinks: (found: FoundLinks) => Promise<void>;
}

export function createIngestWrites({ store }: Pick<ActivityDeps, 'store'>): IngestWrites {
  const startAll = async (requests: readonly StartRequest[]): Promise<(StartedFile | null)[]> => {
    const fileIdsByRun = new Map<number, number[]>();
    for (const { runId, fileId } of requests) fileIdsByRun.set(runId, [...(fileIdsByRun.get(runId) ?? []), fileId]);
    const groups = await Promise.all([...fileIdsByRun].map(([runId, fileIds]) => store.files.start(runId, fileIds)));
    const started = new Map(groups.flat().map((start) => [start.file._id, start]));
    return requests.map(({ runId, fileId }) => {
      const start = started.get(fileId);
      return start?.file.runId === runId ? start : null;
    });
  };
  return {
    // If the shared write fails, the starts are not repeated one by one. If the write succeeded and only its reply was
    // lost, a second start would count as a crash of the worker.
    start: coalesce(startAll, { maxItems: START_FILES, maxWaitMs: START_WAIT_MS }),
    commit: coalesce(
      async (prepared) => {
        await commitFiles(store, prepared);
        return prepared.map(() => undefined);
      },
      { maxItems: COMMIT_FILES, maxWaitMs: COMMIT_WAIT_MS, retryAlone: true },
    ),
    finishUnchanged: coalesce(
      async (unchanged) => {
        await store.files.finishUnchanged(unchanged);
        return unchanged.map(() => undefined);
      },
      { maxItems: COMMIT_FILES, maxWaitMs: COMMIT_WAIT_MS },
    ),
    keepLinks: coalesce(
      async (found) => {
        await store.frontier.saveLinks(found);
        return found.map(() => undefined);
      },
      { maxItems: COMMIT_FILES, maxWaitMs: START_WAIT_MS },
    ),
  };
}
