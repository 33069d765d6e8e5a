/**
 * Provides locks between processes, as names in Linux's abstract socket namespace. A name has one owner and is released
 * when its owner ends, even after a crash. A lock file would survive a kill -9.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Lock {
  release(): Promise<void>;
}

/** Takes the lock of a path (which need not exist); undefined if another holder has it. */
export function tryLock(path: string): Promise<Lock | undefined> {
  const name = createHash('sha256').update(resolve(path)).digest('hex').slice(0, 32);
  return new Promise((take, fail) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') take(undefined);
      else fail(error);
    });
    server.listen({ path: `\0allotrope-${name}` }, () => {
      // The lock must not keep the process alive.
      server.unref();
      take({ release: () => new Promise((done) => server.close(() => done())) });
    });
  });
}

/** Runs `work` under the lock of a path. If another process holds the lock, calls `onWait` once and waits. */
export async function withLock<T>(path: string, onWait: () => void, work: () => Promise<T>): Promise<T> {
  let lock = await tryLock(path);
  if (!lock) onWait();
  while (!lock) {
    await sleep(100);
    lock = await tryLock(path);
  }
  try {
    return await work();
  } finally {
    await lock.release();
  }
}
