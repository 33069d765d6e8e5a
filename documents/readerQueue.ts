import { Fault } from '../contract/failures.js';
import type { PoolDocument, PoolResult } from './answerTask.js';
import { LimitExceeded, ReaderCrashed, type ReaderCrash, type Readers } from './readers.js';

/** Documents up to this size share a task: waking a thread takes a large part of the time that a small page takes. */
const SMALL_BYTES = 128 * 1024;
const GROUP_DOCUMENTS = 8;
/** Milliseconds that the first small document of a group waits for others. */
const GATHER_MS = 4;

/** A document that waits, is being read, or was read. */
type Job = PoolDocument & {
  readonly resolve: (document: PoolResult) => void;
  readonly reject: (reason: unknown) => void;
  /**
   * Whether it is retried in a task of its own: the reader of its group died or exceeded a limit, or its reader died
   * while it read only this document.
   */
  alone: boolean;
  answered: boolean;
  /**
   * Called when the caller no longer waits for the document. Removes it from the queue, or ends its reader if no
   * document of its group is still awaited.
   */
  abandon: () => void;
};

/** Whether a document may share a task. Pictures never may, because recognition takes long. */
const isSmall = ({ alone, input, recognition }: Job): boolean =>
  !alone && recognition === undefined && input.path === undefined && input.bytes.byteLength <= SMALL_BYTES;

/**
 * Whether a job cannot be retried: it was retried alone already, or its bytes were transferred to a thread that died.
 */
const isTriedAlone = (job: Job | undefined): boolean =>
  !job ||
  job.alone ||
  (job.input.path === undefined && job.input.transferBytes === true && job.input.bytes.byteLength === 0);

type Owner = Job['input']['owner'];

/**
 * Maximum number of owners whose last turn is stored. Above it, all are deleted, and every owner counts as not served
 * yet.
 */
const OWNERS_KEPT = 1_000;

/**
 * Takes jobs from a queue so that owners take turns. The next job is the oldest one of the owner who was served least
 * recently.
 */
function createTurns(queue: Job[]) {
  const servedAt = new Map<Owner, number>();
  let turn = 0;
  const next = (): Job | undefined => {
    let [found, since] = [queue[0], Infinity];
    for (const job of queue) {
      const at = servedAt.get(job.input.owner) ?? 0;
      if (at < since) [found, since] = [job, at];
    }
    return found;
  };
  const take = (job: Job): Job => {
    queue.splice(queue.indexOf(job), 1);
    servedAt.set(job.input.owner, (turn += 1));
    if (servedAt.size > OWNERS_KEPT) servedAt.clear();
    return job;
  };
  return {
    /** Takes one job; with a small job, also the next small jobs. */
    takeGroup(): Job[] {
      const group: Job[] = [];
      for (let job = next(); job; job = next()) {
        if (group.length === GROUP_DOCUMENTS || (group.length > 0 && !isSmall(job))) break;
        group.push(take(job));
        if (!isSmall(job)) break;
      }
      return group;
    },
  };
}

/** A queue of documents in front of a set of readers, with grouping and retries. */
export interface ReaderQueue {
  /** Queues a document; the result has the requested kind. Rejects with the signal's reason on abort. */
  answer<Answer extends PoolResult>(document: PoolDocument, signal?: AbortSignal): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * Creates a queue.
 * @param slots maximum number of groups that the readers receive at once
 * @param onCrash called for each reader that died without exceeding a limit
 */
export function createReaderQueue(readers: Readers, slots: number, onCrash: (crash: ReaderCrash) => void): ReaderQueue {
  const queue: Job[] = [];
  const roundRobin = createTurns(queue);
  let free = slots;
  let gathering: NodeJS.Timeout | null = null;
  let closed = false;

  /** Removes a job that waits. */
  const leave = (job: Job): void => void queue.splice(queue.indexOf(job), 1);

  const runGroup = async (group: readonly Job[]): Promise<void> => {
    const stop = new AbortController();
    for (const job of group) {
      // End the reader only when no document of the group is still awaited.
      job.abandon = () => {
        if (group.every(({ answered }) => answered))
          stop.abort(new Error('all callers have given up on these documents'));
      };
    }
    try {
      const answers = await readers.run(group, stop.signal);
      group.forEach(({ resolve, reject }, nth) => {
        const answer = answers[nth];
        if (answer && 'document' in answer) resolve(answer.document);
        else if (answer) reject(new Fault(answer.fault.kind, answer.fault.message, { cause: answer.fault.cause }));
      });
    } catch (error) {
      if (error instanceof ReaderCrashed) onCrash(error.crash);
      const waiting = group.filter(({ answered }) => !answered);
      const isRetried =
        group.length > 1 ? error instanceof LimitExceeded : error instanceof ReaderCrashed && !isTriedAlone(group[0]);
      if (isRetried) {
        // Either one document caused the failure, or none: retrying each document alone shows which.
        for (const job of waiting) {
          job.alone = true;
          job.abandon = () => leave(job);
        }
        queue.unshift(...waiting);
      } else {
        for (const { reject } of waiting) reject(error instanceof LimitExceeded ? error.fault : error);
      }
    }
  };

  const startGroups = (): void => {
    if (gathering) clearTimeout(gathering);
    gathering = null;
    while (free > 0 && queue.length > 0) {
      free -= 1;
      void runGroup(roundRobin.takeGroup()).finally(() => {
        free += 1;
        startGroups();
      });
    }
  };

  const answer = <Answer extends PoolResult>(document: PoolDocument, signal?: AbortSignal): Promise<Answer> =>
    new Promise<PoolResult>((resolve, reject) => {
      if (closed) throw new Error('The document pool is closed.');
      signal?.throwIfAborted();
      const settle =
        <Value>(act: (value: Value) => void) =>
        (value: Value): void => {
          if (job.answered) return;
          job.answered = true;
          signal?.removeEventListener('abort', abort);
          act(value);
        };
      const job: Job = {
        ...document,
        resolve: settle(resolve),
        reject: settle(reject),
        abandon: () => leave(job),
        alone: false,
        answered: false,
      };
      const abort = (): void => {
        job.reject(signal?.reason);
        job.abandon();
      };
      signal?.addEventListener('abort', abort, { once: true });
      queue.push(job);
      if (free > 0 && (!isSmall(job) || queue.length >= GROUP_DOCUMENTS)) startGroups();
      else if (free > 0) gathering ??= setTimeout(startGroups, GATHER_MS);
    }) as Promise<Answer>;

  return {
    answer,
    async close() {
      closed = true;
      const ended = new Error('The document pool is closed.');
      for (const job of queue.splice(0)) job.reject(ended);
      await readers.close();
    },
  };
}
