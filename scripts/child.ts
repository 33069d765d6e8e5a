import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Time in milliseconds after which a child that has not reported `ready` counts as failed. */
const READY_MS = 60_000;
/** Time in milliseconds after which a child that does not end is killed. */
const STOP_MS = 15_000;
const RESTART_MS = 1_000;

export interface SupervisedChild {
  /** Fields of the child's ready message. */
  readonly ready: Readonly<Record<string, unknown>>;
  readonly pid: () => number | undefined;
  /**
   * Kills the child process, if it runs, and waits for its end. The supervisor starts a new one after a second, unless
   * `restart` is false.
   */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export interface ChildOptions {
  /** Module path from the project's root, without extension. */
  readonly module: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether the child is restarted when it dies; default: true. */
  readonly restart?: boolean;
  /** Whether dist/ is compiled first; default: true. */
  readonly compile?: boolean;
  /** Called when the process ended unexpectedly. @param how `by SIGKILL` or `with code 1` */
  readonly onExit?: (how: string) => void;
  /**
   * Milliseconds without a heartbeat after which the process counts as frozen and is killed; then it is restarted. Only
   * for modules that send heartbeats. Absent: never.
   */
  readonly frozenAfterMs?: number;
  /** Called before a frozen process is killed. */
  readonly onFrozen?: (pid: number | undefined) => void;
  /** Receives each log line of the child; by default the log goes to this process's output. */
  readonly onLogLine?: (line: string) => void;
  /** Ends the start: the process is killed, and the promise is rejected with the reason. */
  readonly startSignal?: AbortSignal;
}

let compiling: Promise<void> | null = null;

/** Compiles the service to dist/ once per process. Runs in a child process, so that its memory is released. */
export function compile(): Promise<void> {
  compiling ??= (async () => {
    const file = fileURLToPath(new URL('compile.ts', import.meta.url));
    const child = fork(file, { execArgv: ['--import', import.meta.resolve('tsx')], stdio: 'inherit' });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`Compiling the service ended with code ${String(code)}; its message is above`);
  })();
  return compiling;
}

/**
 * Saves memory at the cost of a little processor time. By default glibc has one heap per thread, and V8 lets a heap
 * grow to four times its live size. The scripts `api` and `worker` of package.json set the same values. The Dockerfile
 * sets MALLOC_ARENA_MAX and, in the environment variable NODE_OPTIONS, --max-semi-space-size: Node does not accept
 * --heap-growing-percent there.
 */
const LEAN_ENV = { MALLOC_ARENA_MAX: '2' };
const LEAN_HEAP = ['--max-semi-space-size=8', '--heap-growing-percent=30'];
/**
 * The worker's threads fill the cores already, so helper threads of V8's garbage collector save no time: without them
 * the worker needs a fifth less processor time for a page, and no more memory (bench/results.md). The API keeps them,
 * because its requests wait during a collection. package.json and docker-compose.yml set the same.
 */
const BUSY_THREADS = ['--single-threaded-gc'];
/** Options of Node by module. */
const NODE_OPTIONS: Readonly<Record<string, readonly string[]>> = { 'worker/main': [...LEAN_HEAP, ...BUSY_THREADS] };

function launch({ module, env, onLogLine }: ChildOptions): ChildProcess {
  const file = fileURLToPath(new URL(`../dist/${module}.js`, import.meta.url));
  // The child has its own process group, so Ctrl-C reaches only the supervisor, which stops its children in order.
  const child = fork(file, {
    env: { ...LEAN_ENV, ...env },
    execArgv: [...(NODE_OPTIONS[module] ?? LEAN_HEAP)],
    stdio: ['ignore', onLogLine ? 'pipe' : 'inherit', 'inherit', 'ipc'],
    detached: true,
  });
  if (child.stdout && onLogLine) createInterface({ input: child.stdout }).on('line', onLogLine);
  return child;
}

const howEnded = (code: unknown, signal: unknown): string =>
  typeof signal === 'string' ? `by ${signal}` : `with code ${String(code)}`;

/** Returns the ready message. A process that does not become ready is killed: its caller has no handle to stop it. */
async function whenReady(child: ChildProcess, { module, startSignal }: ChildOptions): Promise<Record<string, unknown>> {
  const timer = new AbortController();
  try {
    return await Promise.race([
      once(child, 'message', { signal: timer.signal }).then(([message]) => message as Record<string, unknown>),
      once(child, 'exit', { signal: timer.signal }).then(([code, signal]) => {
        throw new Error(`${module} ended at start ${howEnded(code, signal)}; its message is above`);
      }),
      new Promise<never>((_resolve, reject) => {
        setTimeout(() => reject(new Error(`${module} was not ready within ${READY_MS / 1000} s`)), READY_MS).unref();
      }),
      new Promise<never>((_resolve, reject) => {
        const onAbort = (): void => reject(startSignal?.reason as Error);
        startSignal?.addEventListener('abort', onAbort, { signal: timer.signal });
      }),
    ]);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    timer.abort();
  }
}

/** Interval between checks of the heartbeat, in milliseconds. */
const CHECK_MS = 1_000;

/** Kills a process whose heartbeat stopped. Time during which this process itself was suspended does not count. */
function killWhenFrozen(child: ChildProcess, { frozenAfterMs, onFrozen }: ChildOptions): void {
  if (frozenAfterMs === undefined) return;
  let silentMs = 0;
  let hasSentHeartbeat = false;
  child.on('message', () => {
    hasSentHeartbeat = true;
    silentMs = 0;
  });
  const timer = setInterval(() => {
    if (!hasSentHeartbeat) return;
    // Count the ticks of this timer instead of the elapsed time: there are none while this process itself is suspended.
    silentMs += CHECK_MS;
    if (silentMs < frozenAfterMs) return;
    clearInterval(timer);
    onFrozen?.(child.pid);
    child.kill('SIGKILL');
  }, CHECK_MS);
  timer.unref();
  child.once('exit', () => clearInterval(timer));
}

/** Starts a process of the service, waits until it is ready, and by default restarts it whenever it dies. */
export async function superviseChild(options: ChildOptions): Promise<SupervisedChild> {
  if (options.compile !== false) await compile();
  options.startSignal?.throwIfAborted();
  let stopping = false;
  let child = launch(options);
  const watch = (): void => {
    killWhenFrozen(child, options);
    child.once('exit', (code, signal) => {
      if (stopping) return;
      options.onExit?.(howEnded(code, signal));
      if (options.restart === false) return;
      setTimeout(() => {
        if (stopping) return;
        child = launch(options);
        watch();
      }, RESTART_MS);
    });
  };
  const ready = await whenReady(child, options);
  watch();
  return {
    ready,
    pid: () => child.pid,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    async stop() {
      stopping = true;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(killer);
    },
  };
}
