/**
 * `npm run coverage`: runs tests and prints the share of executed lines and branches per folder and in total. Arguments
 * are passed to `npm test`. Without arguments, `npm test` and then `npm run test:system` run, as in CI. Every process
 * and thread that ends normally is counted. Writes the missed lines of each file to coverage/coverage.json. Exits with
 * the exit code of the tests.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { glob } from 'tinyglobby';

import { addReports } from './coverage/reports.js';
import { coverageTable, summarize } from './coverage/summary.js';
import { createTally, jestCompiler } from './coverage/tally.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PRELOAD = fileURLToPath(new URL('coverage/preload.cjs', import.meta.url));
/** Interval between reads of the folder with the reports. */
const TAKE_MS = 1_000;

const sources = await glob('**/*.ts', {
  cwd: ROOT,
  ignore: ['**/node_modules/**', '**/.*/**', 'dist/**', 'test/**', 'bench/**', 'examples/**'],
});
const jest = createRequire(import.meta.url)('../jest.config.cjs') as Parameters<typeof jestCompiler>[0];
const tally = await createTally(ROOT, sources.toSorted(), jestCompiler(jest));
const reportFolder = await mkdtemp(path.join(tmpdir(), 'allotrope-coverage-'));

/** Runs a script of package.json and collects its reports meanwhile. @returns its exit code */
async function runCovered(script: string, args: readonly string[]): Promise<number> {
  // Node passes the variable on to child processes, those with an environment of their own included:
  // https://nodejs.org/api/cli.html#node_v8_coveragedir
  const env = { ...process.env, NODE_V8_COVERAGE: reportFolder, NODE_OPTIONS: `--require=${JSON.stringify(PRELOAD)}` };
  const child = spawn('npm', ['run', '-s', script, '--', ...args], { cwd: ROOT, env, stdio: 'inherit' });
  let running = true;
  const ended = once(child, 'close').finally(() => (running = false)) as Promise<[number | null]>;
  while (running) {
    await addReports(reportFolder, tally);
    await Promise.race([ended, sleep(TAKE_MS)]);
  }
  const [code] = await ended;
  return code ?? 1;
}

// Ctrl-C also stops the tests; the coverage so far is still reported.
process.on('SIGINT', () => undefined);
const given = process.argv.slice(2);
const { scripts } = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const runs = given.length > 0 ? ['test'] : ['test', 'test:system'].filter((name) => name in scripts);
const codes: number[] = [];
try {
  for (const script of runs) codes.push(await runCovered(script, given));
  const incomplete = await addReports(reportFolder, tally);
  const files = tally.files();
  const folders = summarize(files);
  await mkdir(path.join(ROOT, 'coverage'), { recursive: true });
  await writeFile(path.join(ROOT, 'coverage/coverage.json'), `${JSON.stringify({ folders, files }, null, 1)}\n`);
  console.log(`\n${coverageTable(folders)}`);
  for (const [url, reason] of tally.unread) console.log(`Not counted: ${url}: ${reason}`);
  if (incomplete > 0) console.log(`${incomplete} reports are incomplete: their processes were killed as they wrote.`);
} finally {
  await rm(reportFolder, { recursive: true, force: true });
}
process.exitCode = codes.find((code) => code !== 0) ?? 0;
