/** Runs an engine on its ports until it is stopped or killed, and restarts it with the same ports and data. */
import { EngineError } from './errors.js';
import { findPort, isFree, type WantedPort } from './ports.js';
import type { Venv } from './venv.js';

export type EngineName = 'temporal' | 'mongodb' | 'qdrant';

export interface EngineEvents {
  /** Called when the engine ends unexpectedly; `restart()` starts it again. */
  readonly onCrash?: (name: EngineName, how: string, engine: Engine) => void;
  /** Called after a restart, which gives the engine another process id. */
  readonly onRestart?: () => Promise<void>;
}

/** The options that all engines have. */
export interface StartOptions extends EngineEvents {
  readonly dataDir: string;
  readonly venv: Venv;
}

/** One process of an engine. */
export interface Launched {
  readonly pid: number;
  /** Length of its log, in bytes, before it started. */
  readonly logOffset: number;
  /** Resolves when the process has ended, with a description of how. */
  readonly ended: Promise<string>;
  /** Sends SIGTERM, then SIGKILL after a timeout. */
  stop(): Promise<void>;
}

export interface Engine {
  readonly name: EngineName;
  readonly ports: readonly number[];
  /** Id of the current process; a restart changes it. */
  readonly pid: number;
  /** Length of the log, in bytes, at the start of the last process that became ready. */
  readonly logOffset: number;
  /** Stops the engine and abandons a start in progress. Only a later restart() starts it again. */
  stop(): Promise<void>;
  /** Ends the process with a signal, like a crash; for tests. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /**
   * Stops the engine if it is running, then starts it on the same ports and data.
   * @throws EngineError if it is stopped meanwhile
   */
  restart(): Promise<void>;
}

export interface EngineOptions extends EngineEvents {
  readonly name: EngineName;
  /** Preferred ports; the next free one is used if one is taken. */
  readonly ports: readonly WantedPort[];
  /**
   * Starts the process.
   * @param signal abandons a start that is not ready yet
   */
  readonly launch: (ports: readonly number[], signal: AbortSignal) => Promise<Launched>;
}

const PORT_TRIES = 5;

/** Starts an engine on free ports and returns its controls. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { name, ports: wanted, launch, onCrash, onRestart } = options;
  let stopping = new AbortController();
  const { ports, launched } = await launchOnFreePorts(wanted, (taken) => launch(taken, stopping.signal));
  let current: Launched | undefined;
  let restarting: Promise<void> | undefined;
  let [pid, logOffset] = [0, 0];

  const watch = (next: Launched) => {
    current = next;
    ({ pid, logOffset } = next);
    void next.ended.then((how) => {
      if (current !== next) return;
      current = undefined;
      onCrash?.(name, how, engine);
    });
  };
  /** Returns the running process and stops watching it, so that its end is not reported as a crash. */
  const unwatch = () => {
    const running = current;
    current = undefined;
    return running;
  };
  const engine: Engine = {
    name,
    ports,
    get pid() {
      return pid;
    },
    get logOffset() {
      return logOffset;
    },
    async stop() {
      stopping.abort();
      await restarting?.catch(() => {});
      await unwatch()?.stop();
      stopping = new AbortController();
    },
    async kill(signal = 'SIGKILL') {
      const running = unwatch();
      if (!running) return;
      process.kill(running.pid, signal);
      await running.ended;
    },
    restart() {
      restarting ??= (async () => {
        const { signal } = stopping;
        await unwatch()?.stop();
        if (signal.aborted) throw new EngineError(`${name} was stopped.`);
        watch(await launch(ports, signal));
        await onRestart?.();
      })().finally(() => (restarting = undefined));
      return restarting;
    },
  };
  watch(launched);
  return engine;
}

async function launchOnFreePorts(
  wanted: readonly WantedPort[],
  launch: (ports: readonly number[]) => Promise<Launched>,
) {
  const lost: number[] = [];
  for (let attempt = 1; ; attempt++) {
    const ports: number[] = [];
    for (const port of wanted) ports.push(await findPort(port, [...lost, ...ports]));
    try {
      return { ports, launched: await launch(ports) };
    } catch (error) {
      // Another process may take a port between the check and the engine's start. Only then try other ports.
      const taken = await Promise.all(ports.map(async (port) => !(await isFree(port))));
      if (!taken.includes(true)) throw error;
      if (attempt === PORT_TRIES)
        throw new EngineError(
          `The ports ${ports.join(', ')} were taken by other processes at each attempt. Start again.`,
        );
      lost.push(...ports.filter((_, index) => taken[index]));
    }
  }
}
