/** Runs the commands of an example's README, as if a user pasted them into a new shell. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import type { TestService } from './service.js';
import { waitFor } from './waitFor.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** The file that the examples upload. */
export const REPORT = 'test/fixtures/documents/libreoffice/report.pdf';
/** Time limit for one line of output, in milliseconds: an installation from a registry can take minutes. */
const TIME_LIMIT_MS = 280_000;
/** Folders that git ignores. A checkout may contain them, but they are not copied. */
const IGNORED_FOLDERS = /(?:^|\/)(?:node_modules|\.venv)$/;

export interface ExampleRun {
  /** Waits for a line. @returns its match @throws if the commands end without it */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  /** Waits until the commands have ended. @returns their output @throws if they fail */
  ended(): Promise<string>;
  stop(): Promise<void>;
}

export interface Examples {
  run(name: string, env?: Record<string, string>): Promise<ExampleRun>;
  close(): Promise<void>;
}

/** Copies the examples to a folder. Its `.data/api-key` has the API key of the service, as after `npm start`. */
export async function copyExamples({ url, apiKey }: Pick<TestService, 'url' | 'apiKey'>): Promise<Examples> {
  const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-examples-'));
  await cp(path.join(ROOT, 'examples'), path.join(folder, 'examples'), {
    recursive: true,
    filter: (source) => !IGNORED_FOLDERS.test(source),
  });
  await mkdir(path.join(folder, path.dirname(REPORT)), { recursive: true });
  await cp(path.join(ROOT, REPORT), path.join(folder, REPORT));
  await mkdir(path.join(folder, '.data'));
  await writeFile(path.join(folder, '.data/api-key'), apiKey);
  return {
    async run(name, env = {}) {
      const readme = await readFile(path.join(folder, 'examples', name, 'README.md'), 'utf8');
      const [, commands = 'exit 1'] = /^```bash\n(.*?)^```$/ms.exec(readme) ?? [];
      const { PATH, HOME } = process.env;
      // The shell has its own process group, so that `stop` also ends the processes that it started.
      const child = spawn('bash', ['-e', '-c', commands], {
        cwd: folder,
        env: { PATH, HOME, ALLOTROPE_URL: url, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      });
      let output = '';
      for (const channel of [child.stdout, child.stderr])
        channel.on('data', (part: Buffer) => (output += part.toString()));
      let code: number | string | null = null;
      const closed = once(child, 'close').then(([status, signal]) => (code = (status ?? signal) as number | string));
      return {
        async printed(pattern) {
          await waitFor(
            () => code !== null || pattern.test(output),
            (done) => done,
            TIME_LIMIT_MS,
          );
          const match = pattern.exec(output);
          if (!match) throw new Error(`The commands of ${name} ended without ${pattern.source}:\n${output}`);
          return match;
        },
        async ended() {
          await closed;
          if (code !== 0) throw new Error(`The commands of ${name} ended with ${code}:\n${output}`);
          return output;
        },
        async stop() {
          if (code === null && child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
          await closed;
        },
      };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
