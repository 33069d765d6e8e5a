/** Restarts engines that crash, without a limit on attempts: an operator may free a full disk only hours later. */
import { setTimeout as sleep } from 'node:timers/promises';

import { causeOf, fullDisk } from './cause.js';
import type { Engine, EngineName } from './engine.js';
import { logSize } from './logFile.js';

const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;
/** An engine that ran this long has recovered: after its next crash, the backoff starts again from the first pause. */
const RECOVERED_MS = 60_000;

const pauseAfter = (failures: number): number => Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** failures);
const waitFor = (ms: number, signal: AbortSignal): Promise<unknown> => sleep(ms, undefined, { signal });
const firstLine = (error: unknown): string => (error as Error).message.split('\n', 1)[0]?.replace(/\.$/, '') ?? '';

/** An engine that is down, and the reason. */
export interface DownEngine {
  readonly since: string;
  readonly cause: string;
  /** How its process ended, without lines of its log. */
  readonly how: string;
  readonly isDiskFull: boolean;
  /** Failed starts since it ended. */
  readonly attempts: number;
}

export interface Restarter {
  /** Handles an engine that ended unexpectedly. */
  readonly onCrash: (name: EngineName, how: string, engine: Engine) => void;
  /** Engines that are down, by name. */
  readonly down: ReadonlyMap<EngineName, DownEngine>;
  /** Cancels all waiting; nothing is restarted afterwards. */
  stop(): void;
}

export interface RestarterOptions {
  readonly dataDir: string;
  /** Receives one line for each crash, failed start and recovery. */
  readonly printLine: (line: string) => void;
  /** Called after `down` changed. */
  readonly onChange?: () => void;
  /** The clock; for tests. */
  readonly now?: () => number;
  /** Waits between attempts, in milliseconds; for tests. Rejects when the signal is aborted. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export function createRestarter(options: RestarterOptions): Restarter {
  const { dataDir, printLine, onChange = () => {}, now = Date.now } = options;
  const { pause = waitFor } = options;
  const stopping = new AbortController();
  const down = new Map<EngineName, DownEngine>();
  /** Starts since an engine last recovered, and time of the last start. */
  const tries = new Map<EngineName, { count: number; startedAt: number }>();

  const restart = async (name: EngineName, how: string, engine: Engine): Promise<void> => {
    const since = new Date(now()).toISOString();
    const earlier = tries.get(name);
    const hadRecovered = earlier === undefined || now() - earlier.startedAt >= RECOVERED_MS;
    let count = hadRecovered ? 0 : earlier.count;
    let event = `${name} ${how}`;
    // Log lines of earlier processes of the engine do not explain this crash.
    let logged = engine.logOffset;
    for (let attempts = 0; !stopping.signal.aborted; attempts += 1) {
      const { line: cause, isDiskFull } = await causeOf(dataDir, name, logged);
      const pauseMs = pauseAfter(count);
      const entry = { since, cause: cause || how, how, isDiskFull, attempts };
      down.set(name, entry);
      onChange();
      printLine(`${event}${cause && `: ${cause}`}. Next start in ${pauseMs / 1000} s`);
      await pause(pauseMs, stopping.signal);
      count += 1;
      logged = await logSize(dataDir, name);
      tries.set(name, { count, startedAt: now() });
      try {
        await engine.restart();
        // The engine may have ended again before restart() returned. Then another call restarts it.
        if (down.get(name) !== entry) return;
        tries.set(name, { count, startedAt: now() });
        down.delete(name);
        onChange();
        printLine(`${name} runs again`);
        return;
      } catch (error) {
        // The other lines of the error are the end of the log, which causeOf() reads anyway.
        event = firstLine(error);
      }
    }
  };
  return {
    down,
    onCrash(name, how, engine) {
      restart(name, how, engine).catch((error: unknown) => {
        if (!stopping.signal.aborted) printLine(`${name} is not restarted: ${String(error)}`);
      });
    },
    stop: () => stopping.abort(),
  };
}

export interface FirstStart {
  readonly dataDir: string;
  readonly name: EngineName;
  /** Receives one line for each failed start. */
  readonly printLine: (line: string) => void;
  /** Cancels the waiting when another engine fails. */
  readonly signal: AbortSignal;
  /** Waits between attempts, in milliseconds; for tests. Rejects when the signal is aborted. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Starts an engine for the first time, and retries with the same backoff while its disk is full.
 * @throws the error of the start for any other cause, or when the signal is aborted
 */
export async function startWithSpace<E>(
  { dataDir, name, printLine, signal, pause = waitFor }: FirstStart,
  start: () => Promise<E>,
): Promise<E> {
  for (let failures = 0; ; failures += 1) {
    const logged = await logSize(dataDir, name);
    try {
      return await start();
    } catch (error) {
      const cause = await fullDisk(dataDir, name, logged);
      if (cause === null || signal.aborted) throw error;
      const pauseMs = pauseAfter(failures);
      printLine(`${firstLine(error)}: ${cause}. Next start in ${pauseMs / 1000} s`);
      await pause(pauseMs, signal).catch(() => Promise.reject(error as Error));
    }
  }
}
