import type { KeptFile } from '../../store/files/commands.js';
import type { StartedFile } from '../../store/files/start.js';
import type { FoundLinks } from '../../store/frontier/frontier.js';
import { type Batcher, createBatcher } from '../batcher.js';
import { commitFiles } from './commitFiles.js';
import type { ActivityDeps } from '../deps.js';
import type { PreparedFile } from './prepare/preparedFile.js';

/** Starts wait this long for company, so that they share one write. */
const START_WAIT_MS = 4;
const START_FILES = 50;
/** Finished files wait this long for company, and at most so many are written at once. */
const COMMIT_WAIT_MS = 30;
const COMMIT_FILES = 32;

/** A file that a batch would begin. */
export interface StartRequest {
  readonly runId: number;
  readonly fileId: number;
}

/** The writes that every file of an ingest needs, shared by all batches of this worker: a write for many costs little more than one for one. */
export interface IngestWrites {
  /** Null when the file is no longer the run's, or done. */
  readonly starter: Batcher<StartRequest, StartedFile | null>;
  readonly committer: Batcher<PreparedFile, void>;
  readonly keeper: Batcher<KeptFile, void>;
  readonly linker: Batcher<FoundLinks, void>;
}

export function createIngestWrites({ store }: Pick<ActivityDeps, 'store'>): IngestWrites {
  const startAll = async (requests: readonly StartRequest[]): Promise<(StartedFile | null)[]> => {
    const ofRun = new Map<number, number[]>();
    for (const { runId, fileId } of requests) ofRun.set(runId, [...(ofRun.get(runId) ?? []), fileId]);
    const groups = await Promise.all([...ofRun].map(([runId, fileIds]) => store.files.start(runId, fileIds)));
    const started = new Map(groups.flat().map((start) => [start.file._id, start]));
    return requests.map(({ runId, fileId }) => {
      const start = started.get(fileId);
      return start?.file.runId === runId ? start : null;
    });
  };
  return {
    // Not tried again alone: a start whose answer was lost would count as a second death of the worker.
    starter: createBatcher(startAll, START_FILES, START_WAIT_MS),
    committer: createBatcher(
      async (prepared) => {
        await commitFiles(store, prepared);
        return prepared.map(() => undefined);
      },
      COMMIT_FILES,
      COMMIT_WAIT_MS,
      { retryAlone: true },
    ),
    keeper: createBatcher(
      async (kept) => {
        await store.files.keep(kept);
        return kept.map(() => undefined);
      },
      COMMIT_FILES,
      COMMIT_WAIT_MS,
    ),
    linker: createBatcher(
      async (found) => {
        await store.frontier.keepLinks(found);
        return found.map(() => undefined);
      },
      COMMIT_FILES,
      START_WAIT_MS,
    ),
  };
}
