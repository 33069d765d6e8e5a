import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import path from 'node:path';

/** One method of installation: commands that run in order; the first failure ends it. */
export type InstallMethod = readonly { readonly command: string; readonly args: readonly string[] }[];

export interface ChromiumInstaller {
  /**
   * Tries the methods in order until one succeeds and `works` returns true. Returns false if none does within the
   * time limit.
   */
  install(works: () => Promise<boolean>): Promise<boolean>;
  /** Stops a running installation. */
  close(): void;
}

/** Time limit for all methods together. */
const INSTALL_TIMEOUT_MS = 300_000;

/**
 * Returns the default methods: Playwright's installer, which needs no root, then the system's for root on
 * Debian-based systems.
 */
export function defaultMethods(): readonly InstallMethod[] {
  const cli = path.join(path.dirname(createRequire(import.meta.url).resolve('playwright-core/package.json')), 'cli.js');
  const playwright = [{ command: process.execPath, args: [cli, 'install', 'chromium-headless-shell'] }];
  if (process.getuid?.() !== 0) return [playwright];
  const apt = (...args: string[]) => ({ command: 'apt-get', args: ['-q', '-y', ...args] });
  const fromDebian = (name: string): InstallMethod => [apt('update'), apt('install', '--no-install-recommends', name)];
  return [playwright, fromDebian('chromium-headless-shell'), fromDebian('chromium')];
}

/** Installs a browser with child processes and a time limit, while the service keeps running. */
export function createChromiumInstaller(
  methods: () => readonly InstallMethod[] = defaultMethods,
  timeoutMs = INSTALL_TIMEOUT_MS,
): ChromiumInstaller {
  const stopping = new AbortController();
  return {
    async install(works) {
      const timer = setTimeout(() => stopping.abort(), timeoutMs);
      timer.unref();
      try {
        for (const method of methods()) if ((await run(method, stopping.signal)) && (await works())) return true;
        return false;
      } finally {
        clearTimeout(timer);
      }
    },
    close: () => stopping.abort(),
  };
}

async function run(method: InstallMethod, signal: AbortSignal): Promise<boolean> {
  for (const { command, args } of method) if (!(await succeeds(command, args, signal))) return false;
  return true;
}

function succeeds(command: string, args: readonly string[], signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      stdio: 'ignore',
      // A process group of its own: installers start child processes that would otherwise survive them.
      detached: true,
      // A separate environment, because ours contains the service's secrets.
      env: {
        PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        HOME: homedir(),
        LANG: 'C.UTF-8',
        DEBIAN_FRONTEND: 'noninteractive',
      },
    });
    const stop = (): void => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // The process has already ended.
      }
    };
    signal.addEventListener('abort', stop, { once: true });
    const end = (isDone: boolean): void => {
      signal.removeEventListener('abort', stop);
      resolve(isDone);
    };
    child.once('error', () => end(false)).once('close', (code) => end(code === 0));
  });
}
