/** An engine that runs: on its ports, until stopped, killed or started again in the same place. */
import { EngineError } from './errors.js';
import { findPort, isFree, type WantedPort } from './ports.js';
import type { Venv } from './venv.js';

export type EngineName = 'temporal' | 'mongodb' | 'qdrant';

/** What every engine is started with. */
export interface StartOptions {
  readonly dataDir: string;
  readonly venv: Venv;
  /** Told when the engine ends though nobody asked it to. */
  readonly onCrash?: (engine: EngineName, how: string) => void;
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
  stop(): Promise<void>;
  /** Ends the process with a signal, as a crash would; for tests. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same ports and data; stops it first if it runs. */
  restart(): Promise<void>;
}

export interface EngineOptions {
  readonly name: EngineName;
  /** Its ports, each tried first and moved on from when taken. */
  readonly ports: readonly WantedPort[];
  readonly launch: (ports: readonly number[]) => Promise<Launched>;
  /** Told when the process ends though nobody asked it to. */
  readonly onCrash?: (engine: EngineName, how: string) => void;
}

const PORT_TRIES = 5;

/** Starts an engine on free ports and gives what controls it. */
export async function startEngine({ name, ports: wanted, launch, onCrash }: EngineOptions): Promise<Engine> {
  const { ports, launched } = await launchOnFreePorts(wanted, launch);
  let current: Launched | undefined;
  let pid = 0;

  const adopt = (next: Launched) => {
    current = next;
    pid = next.pid;
    void next.ended.then((how) => {
      if (current !== next) return;
      current = undefined;
      onCrash?.(name, how);
    });
  };
  const stop = async () => {
    const running = current;
    current = undefined;
    await running?.stop();
  };
  adopt(launched);

  return {
    name,
    ports,
    get pid() {
      return pid;
    },
    stop,
    async kill(signal = 'SIGKILL') {
      const running = current;
      if (!running) return;
      current = undefined;
      process.kill(running.pid, signal);
      await running.ended;
    },
    async restart() {
      await stop();
      adopt(await launch(ports));
    },
  };
}

async function launchOnFreePorts(wanted: readonly WantedPort[], launch: EngineOptions['launch']) {
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
