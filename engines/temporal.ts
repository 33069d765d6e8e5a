/** Runs the embedded Temporal: the CLI's development server with a database file and the Web UI. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import { Connection } from '@temporalio/client';

import { SEARCH_ATTRIBUTES } from '../contract/runs/workflowIds.js';
import { findBinary } from './binaries.js';
import { startEngine, type Engine, type StartOptions } from './engine.js';
import type { WantedPort } from './ports.js';
import { startChild } from './process.js';

export const TEMPORAL_PORTS = { server: 7233, ui: 8233 } as const;

export interface TemporalOptions extends StartOptions {
  readonly port?: WantedPort;
  readonly uiPort?: WantedPort;
  /** Priority as in nice(1): higher numbers yield to other processes on this machine. */
  readonly niceness?: number;
}

export interface TemporalEngine extends Engine {
  readonly address: string;
  readonly uiUrl: string;
}

/** Starts Temporal on DATA_DIR/temporal and waits until it accepts workflows and has our search attributes. */
export async function startTemporal(options: TemporalOptions): Promise<TemporalEngine> {
  const { dataDir, venv, port = TEMPORAL_PORTS.server, uiPort = TEMPORAL_PORTS.ui, niceness = 0, ...events } = options;
  const program = await findBinary('temporal', venv);
  await mkdir(join(dataDir, 'temporal'), { recursive: true });
  const engine = await startEngine({
    name: 'temporal',
    ports: [port, uiPort],
    ...events,
    launch: ([serverPort = 0, webPort = 0], signal) =>
      startChild({
        name: 'temporal',
        dataDir,
        signal,
        port: serverPort,
        niceness,
        python: venv.python,
        program,
        args: [
          'server',
          'start-dev',
          ...flags(join(dataDir, 'temporal', 'temporal.db'), `${serverPort}`, `${webPort}`),
        ],
        isReady: () => isReady(`127.0.0.1:${serverPort}`),
      }),
  });
  const [serverPort, webPort] = engine.ports;
  return Object.assign(engine, { address: `127.0.0.1:${serverPort}`, uiUrl: `http://127.0.0.1:${webPort}` });
}

function flags(file: string, port: string, uiPort: string): string[] {
  return [
    ...['--ip', '127.0.0.1', '--port', port, '--ui-port', uiPort, '--ui-disable-news-fetch'],
    ...['--db-filename', file, '--log-level', 'error'],
    // Without these settings the database is 2 to 5 times slower. With them it still survives a kill -9.
    ...['--sqlite-pragma', 'journal_mode=wal', '--sqlite-pragma', 'synchronous=1'],
    // Fairness keys have no effect without this setting.
    ...['--dynamic-config-value', 'matching.enableFairness=true'],
    ...SEARCH_ATTRIBUTES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
  ];
}

/** Returns whether the namespace and its search attributes exist. The port opens before that. */
async function isReady(address: string): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: 2_000 });
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
    return SEARCH_ATTRIBUTES.every((name) => name in (customAttributes ?? {}));
  } finally {
    await connection.close();
  }
}
