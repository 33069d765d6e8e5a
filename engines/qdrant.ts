/** Runs the embedded Qdrant: the engine of the pinned wheel, behind a small server with Qdrant's REST API. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { startEngine, type Engine, type StartOptions } from './engine.js';
import type { WantedPort } from './ports.js';
import { startChild } from './process.js';

export const QDRANT_PORT = 6343;

const SERVER = fileURLToPath(new URL('qdrant_server.py', import.meta.url));

export interface QdrantOptions extends StartOptions {
  readonly port?: WantedPort;
  /** Size of a collection's vectors, in KB, above which an index is built; for tests. */
  readonly indexAboveKb?: number;
  /**
   * Maximum number of points written during an index build; for tests, and only with `indexAboveKb`. The writes are
   * recorded and then applied to the new index. Above this number the build is cancelled, and a later one begins.
   */
  readonly keptPoints?: number;
}

export interface QdrantEngine extends Engine {
  readonly url: string;
}

/** Starts Qdrant on DATA_DIR/qdrant and waits until its collections are open. */
export async function startQdrant(options: QdrantOptions): Promise<QdrantEngine> {
  const { dataDir, venv, port: wanted = QDRANT_PORT, indexAboveKb, keptPoints, ...events } = options;
  const folder = join(dataDir, 'qdrant');
  await mkdir(folder, { recursive: true });
  const engine = await startEngine({
    name: 'qdrant',
    ports: [wanted],
    ...events,
    launch: ([port = 0], signal) =>
      startChild({
        name: 'qdrant',
        dataDir,
        signal,
        port,
        python: venv.python,
        program: venv.python,
        // Keep Python's compiled files out of the checkout.
        args: [
          ...['-X', `pycache_prefix=${join(venv.enginesDir, 'pycache')}`, SERVER, folder, `${port}`],
          ...[indexAboveKb, keptPoints].flatMap((limit) => (limit === undefined ? [] : [`${limit}`])),
        ],
        isReady: async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok,
      }),
  });
  return Object.assign(engine, { url: `http://127.0.0.1:${engine.ports[0]}` });
}
