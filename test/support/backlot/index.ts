/**
 * Starts backlot, a server of another project that emulates several services over a corpus of documents
 * (https://pypi.org/project/backlot/). It needs Python 3.11 or newer. Its telemetry is off.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { findPort } from '../../../engines/ports.js';
import { findPython } from '../../../engines/python.js';
import { run } from '../../../engines/run.js';
import { pipInstall } from '../../../engines/venv.js';
import { fetchedOnce } from '../fetchedOnce.js';

const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));
const START_MS = 120_000;

async function backlotPython(): Promise<string> {
  const folder = await fetchedOnce({
    family: 'test-backlot-',
    pinnedBy: REQUIREMENTS,
    label: 'the Python package backlot (20 MB)',
    async fetch(draft) {
      await run(await findPython(), ['-m', 'venv', draft]);
      await run(path.join(draft, 'bin', 'python'), pipInstall(REQUIREMENTS));
    },
  });
  return path.join(folder, 'bin', 'python');
}

/** A user of the corpus, with the credentials that the emulated services accept. */
interface BacklotUser {
  readonly email: string;
  readonly token: string;
  readonly s3_access_key_id: string;
  readonly s3_secret_access_key: string;
}

export interface Backlot {
  readonly url: string;
  /** Users that backlot derived from the corpus, such as the authors of its documents. */
  readonly users: readonly BacklotUser[];
  close(): Promise<void>;
}

/** Starts a server. @param documents the corpus, as records of backlot's schemas @throws if it does not start */
export async function startBacklot(documents: readonly object[]): Promise<Backlot> {
  const python = await backlotPython();
  const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-backlot-'));
  const env = {
    ...{ PATH: process.env['PATH'] ?? '', BACKLOT_DATA_DIR: folder, BACKLOT_TELEMETRY: '0', DO_NOT_TRACK: '1' },
    ...{ PYTHONIOENCODING: 'utf-8', HOME: folder, BACKLOT_DEFAULT_PAGE_SIZE: '2', BACKLOT_MAX_PAGE_SIZE: '2' },
  };
  const corpus = path.join(folder, 'corpus.jsonl');
  await writeFile(corpus, documents.map((document) => JSON.stringify(document)).join('\n'));
  const call = (args: readonly string[]) => spawn(python, ['-m', 'backlot', ...args], { cwd: folder, env });
  const importing = call(['import', corpus]);
  let output = '';
  for (const stream of [importing.stdout, importing.stderr]) stream.on('data', (part) => (output += String(part)));
  const [code] = (await once(importing, 'close')) as [number];
  if (code !== 0) throw new Error(`backlot imported no corpus: ${output}`);

  const port = await findPort('free');
  const url = `http://127.0.0.1:${port}`;
  const serving = call(['serve', '--host', '127.0.0.1', '--port', String(port)]);
  const ended = once(serving, 'close');
  for (const stream of [serving.stdout, serving.stderr])
    stream.on('data', (part) => (output = `${output}${String(part)}`.slice(-5_000)));
  const close = async (): Promise<void> => {
    serving.kill('SIGTERM');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  const deadline = Date.now() + START_MS;
  for (;;) {
    const health = await fetch(`${url}/health`).then(
      (answer) => answer.json() as Promise<{ documents?: number | null }>,
      () => ({ documents: null }),
    );
    if (typeof health.documents === 'number') break;
    if (Date.now() > deadline || serving.exitCode !== null) {
      await close();
      throw new Error(`backlot did not start: ${output}`);
    }
    await sleep(100);
  }
  const { users } = (await (await fetch(`${url}/_meta/users`)).json()) as Pick<Backlot, 'users'>;
  return { url, users, close };
}
