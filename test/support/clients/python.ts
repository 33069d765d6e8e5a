/**
 * Python programs that read the API reference: a generator of clients, and Schemathesis, which tests the service by it.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { findPython } from '../../../engines/python.js';
import { run } from '../../../engines/run.js';
import { pipInstall } from '../../../engines/venv.js';
import { fetchedOnce } from '../fetchedOnce.js';

const REQUIREMENTS = fileURLToPath(new URL('../../clients/requirements.txt', import.meta.url));
/** Arguments of a shell that runs a program in a folder: the folder, the program and its arguments follow. */
const IN_FOLDER = ['-c', 'cd "$1" && shift && exec "$@"', 'sh'];
/** Time limit of Schemathesis in milliseconds. */
const TIMEOUT_MS = 3_600_000;

/** Returns the interpreter of the environment of test/clients/requirements.txt, which is created once. */
export async function clientPython(): Promise<string> {
  const folder = await fetchedOnce({
    family: 'test-clients-python-',
    pinnedBy: REQUIREMENTS,
    label: 'the Python packages of test/clients (30 MB)',
    async fetch(draft) {
      await run(await findPython(), ['-m', 'venv', draft]);
      await run(path.join(draft, 'bin', 'python'), pipInstall(REQUIREMENTS));
    },
  });
  return path.join(folder, 'bin', 'python');
}

/**
 * Generates a client with openapi-python-client in folder `to`.
 * @returns the output of the generator, which names the parts of the document that it omitted
 */
export async function generatePythonClient(document: string, to: string): Promise<string> {
  const config = path.join(path.dirname(document), 'openapi-python-client.yml');
  // Disable the default hooks, which would format the code.
  await writeFile(config, 'post_hooks: []\n');
  const args = ['--path', document, '--output-path', to, '--config', config, '--overwrite'];
  return run(await clientPython(), ['-m', 'openapi_python_client', 'generate', ...args]);
}

/** Runs Schemathesis. @throws with its whole report if a check fails */
export async function runSchemathesis(args: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const python = await clientPython();
  const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-schemathesis-'));
  try {
    // Schemathesis stores failures in its folder and repeats them in the next run, so each run has its own folder.
    await run('sh', [...IN_FOLDER, folder, python, '-m', 'schemathesis.cli', '--no-color', 'run', ...args], {
      onLine: (line) => lines.push(line),
      timeoutMs: TIMEOUT_MS,
    });
  } catch (error) {
    throw new Error(lines.length > 0 ? lines.join('\n') : (error as Error).message, { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return lines.join('\n');
}

/** Runs Python with `folder` as working directory, so that it can import the modules there. @returns its output */
export async function runPython(folder: string, args: readonly string[]): Promise<string> {
  const python = await clientPython();
  return run('sh', [...IN_FOLDER, folder, python, ...args]);
}
