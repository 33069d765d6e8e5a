/** An engine that runs: on its ports, until stopped, killed or started again in the same place. */
import { EngineError } from './errors.js';
import { findPort, isFree, type WantedPort } from './ports.js';
import type { Venv } from './venv.js';

export type EngineName = 'temporal' | 'mongodb' | 'qdrant';

export interface EngineEvents {
  /** The engine ended though nobody asked it to; `restart()` brings it back. */
  readonly onCrash?: (name: EngineName, how: string, engine: Engine) => void;
  /** It was started again and has another process id. */
  readonly onRestart?: () => Promise<void>;
}

/** What every engine is started with. */
export interface StartOptions extends EngineEvents {
  readonly dataDir: string;
  readonly venv: Venv;
}

/** One life of an engine's process. */
export interface Launched {
  readonly pid: number;
  /** Says how the process ended, once it has. */
  readonly ended: Promise<string>;
  /** Asks it to end, then makes it end. */
  stop(): Promise<void>;
}

export interface Engine {
  readonly name: EngineName;
  readonly ports: readonly number[];
  /** Of the present process; another one after a restart. */
  readonly pid: number;
  /** For good: a start that is under way is given up, and no other one follows. */
  stop(): Promise<void>;
  /** Ends the process with a signal, as a crash would; for tests. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same ports and data; stops it first if it runs. @throws EngineError if it is stopped meanwhile */
  restart(): Promise<void>;
}

export interface EngineOptions extends EngineEvents {
  readonly name: EngineName;
  /** Its ports, each tried first and moved on from when taken. */
  readonly ports: readonly WantedPort[];
  /** @param signal gives up a start that is not ready yet */
  readonly launch: (ports: readonly number[], signal: AbortSignal) => Promise<Launched>;
}

const PORT_TRIES = 5;

/** Starts an engine on free ports and gives what controls it. */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const { name, ports: wanted, launch, onCrash, onRestart } = options;
  let stopping = new AbortController();
  const { ports, launched } = await launchOnFreePorts(wanted, (taken) => launch(taken, stopping.signal));
  let current: Launched | undefined;
  let restarting: Promise<void> | undefined;
  let pid = 0;

  const adopt = (next: Launched) => {
    current = next;
    pid = next.pid;
    void next.ended.then((how) => {
      if (current !== next) return;
      current = undefined;
      onCrash?.(name, how, engine);
    });
  };
  /** The process that runs, which from now on may end without being missed. */
  const dismiss = () => {
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
    async stop() {
      stopping.abort();
      await restarting?.catch(() => {});
      await dismiss()?.stop();
      stopping = new AbortController();
    },
    async kill(signal = 'SIGKILL') {
      const running = dismiss();
      if (!running) return;
      process.kill(running.pid, signal);
      await running.ended;
    },
    restart() {
      restarting ??= (async () => {
        const { signal } = stopping;
        await dismiss()?.stop();
        if (signal.aborted) throw new EngineError(`${name} was stopped.`);
        adopt(await launch(ports, signal));
        await onRestart?.();
      })().finally(() => (restarting = undefined));
      return restarting;
    },
  };
  adopt(launched);
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
      // Between our look and the engine's somebody else may have taken a port: then, and only then, try others.
      const taken = await Promise.all(ports.map(async (port) => !(await isFree(port))));
      if (!taken.includes(true)) throw error;
      if (attempt === PORT_TRIES) throw new EngineError(`The ports ${ports.join(', ')} were taken again and again.`);
      lost.push(...ports.filter((_, index) => taken[index]));
    }
  }
}
