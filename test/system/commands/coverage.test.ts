import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { build } from 'esbuild';

import { addReports } from '../../../scripts/coverage/reports.js';
import { coverageTable, summarize } from '../../../scripts/coverage/summary.js';
import { createTally, jestCompiler, type Tally } from '../../../scripts/coverage/tally.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TSX = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const SOURCE = `interface Words { large: string }
export function decide(n: number): string {
  if (n > 10) return ({ large: 'large' } satisfies Words).large;
  const word = n > 5 ? 'middle' : 'small';
  if (n < 0) {
    throw new Error('negative');
  }
  switch (word) {
    case 'middle':
      return word;
    default:
      return n === 0 && word ? 'none' : word;
  }
}
export const never = (): number =>
  1;
export function choose(n: number): (() => number) | null {
  if (n > 1 && n > 2)
    never();
  return n > 0 ? () => n : null;
}
`;

let project: string;
let raw: string;
let tally: Tally;
const compileLikeJest = jestCompiler(
  createRequire(import.meta.url)('../../../jest.config.cjs') as Parameters<typeof jestCompiler>[0],
);

beforeEach(async () => {
  project = await mkdtemp(path.join(tmpdir(), 'allotrope-covered-'));
  raw = path.join(project, '.raw');
  await mkdir(path.join(project, 'words'));
  await mkdir(raw);
  await writeFile(path.join(project, 'words/decide.ts'), SOURCE);
  await writeFile(path.join(project, 'words/unused.ts'), 'export const unused = 1;\n');
  await build({
    absWorkingDir: project,
    entryPoints: ['words/decide.ts'],
    outdir: 'dist',
    outbase: '.',
    format: 'esm',
    target: 'node20',
    sourcemap: 'linked',
    sourcesContent: false,
  });
  await writeFile(path.join(project, 'package.json'), '{"type":"module"}');
  tally = await createTally(project, ['words/decide.ts', 'words/unused.ts'], compileLikeJest);
});
afterEach(async () => rm(project, { recursive: true, force: true }));

/** Runs a program in a child process and records its coverage. */
async function run(program: string, ...flags: readonly string[]): Promise<void> {
  await promisify(execFile)(process.execPath, [...flags, '--input-type=module', '-e', program], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], NODE_V8_COVERAGE: raw },
  });
}
const callCompiled = (n: number) =>
  `import { choose, decide } from '${project}/dist/words/decide.js'; choose(1); decide(${n});`;
const missed = () => {
  const [decide] = tally.files();
  return { lines: decide?.lines.missed, branches: decide?.branches.missed };
};

test('counts the lines and branches of a compiled file that one call misses', async () => {
  await run(callCompiled(7));
  expect(await addReports(raw, tally)).toBe(0);
  expect(tally.files()[0]).toMatchObject({ lines: { total: 12 }, branches: { total: 18 } });
  expect(missed()).toEqual({
    lines: [6, 12, 16, 19],
    branches: [3, 4, 5, 11, 12, 12, 12, 12, 18, 18, 20],
  });
});

test('merges coverage of compiled code, of tsx and of Jest', async () => {
  await run(callCompiled(7));
  await run(`import { decide } from '${project}/words/decide.ts'; decide(0);`, '--import', TSX);
  const code = JSON.stringify(compileLikeJest(SOURCE, path.join(project, 'words/decide.ts')));
  const load = `import vm from 'node:vm';
    const module = new vm.SourceTextModule(${code}, { identifier: '${project}/words/decide.ts' });
    await module.link(() => {});
    await module.evaluate();`;
  await run(`${load} module.namespace.decide(20);`, '--experimental-vm-modules');
  await addReports(raw, tally);
  expect(missed()).toEqual({ lines: [6, 16, 19], branches: [5, 12, 12, 18, 18, 20] });
});

test('counts the lines that a thread executed before it was terminated', async () => {
  const thread = `import('${project}/dist/words/decide.js').then(({ decide }) => {
    require('node:worker_threads').parentPort.postMessage(decide(20));
    setInterval(() => {}, 1000);
  });`;
  await run(`import { once } from 'node:events';
    import { Worker } from 'node:worker_threads';
    const worker = new Worker(${JSON.stringify(thread)}, { eval: true, execArgv: [] });
    await once(worker, 'message');
    await worker.terminate();`);
  await addReports(raw, tally);
  expect(missed()).toEqual({
    lines: [4, 5, 6, 8, 10, 12, 16, 18, 19, 20],
    branches: [3, 4, 4, 5, 5, 9, 11, 12, 12, 12, 12, 18, 18, 18, 18, 20, 20],
  });
});

test('counts the lines that a document reader process executed before SIGKILL, also with an empty env', async () => {
  await mkdir(path.join(project, 'dist/documents'));
  const reader = path.join(project, 'dist/documents/poolProcess.js');
  // The preload script writes the coverage of this process when it sends a message, but not in its first second. So
  // the process reports when it has run longer, and is killed only then.
  await writeFile(
    reader,
    `import { decide } from '../words/decide.js';
    const startedAt = performance.now();
    decide(20);
    setInterval(() => process.send(performance.now() - startedAt > 1000), 100);`,
  );
  const parent = `import { fork } from 'node:child_process';
    const child = fork('${reader}', [], { env: {}, execArgv: [] });
    child.on('message', (isWritten) => isWritten && child.kill('SIGKILL'));`;
  await run(parent, '--require', path.join(ROOT, 'scripts/coverage/preload.cjs'));
  await addReports(raw, tally);
  expect(missed().lines).toEqual([4, 5, 6, 8, 10, 12, 16, 18, 19, 20]);
});

test('leaves a coverage file that is still being written for the next run', async () => {
  await run(callCompiled(20));
  await addReports(raw, tally);
  expect(await readdir(raw)).toEqual([]);
  await writeFile(path.join(raw, 'coverage-1.json'), '{"result":[');
  expect(await addReports(raw, tally)).toBe(1);
  expect(await readdir(raw)).toEqual(['coverage-1.json']);
});

test('names a script without a source map, and counts the others', async () => {
  await writeFile(path.join(project, 'dist/words/unused.js'), 'export const unused = 1;\n');
  await run(`await import('${project}/dist/words/unused.js'); ${callCompiled(7)}`);
  await addReports(raw, tally);
  expect([...tally.unread]).toEqual([
    [pathToFileURL(path.join(project, 'dist/words/unused.js')).href, expect.stringContaining('unused.js.map')],
  ]);
  expect(missed().lines).toEqual([6, 12, 16, 19]);
});

test('counts files that are never loaded, and sums folders', async () => {
  await run(callCompiled(7));
  await addReports(raw, tally);
  const folders = summarize([...tally.files(), { path: 'a.ts', lines: { total: 1, missed: [] }, branches: NONE }]);
  expect(folders.map(({ folder, lines, branches }) => [folder, lines, branches])).toEqual([
    ['.', { covered: 1, total: 1 }, { covered: 0, total: 0 }],
    ['words', { covered: 8, total: 13 }, { covered: 7, total: 18 }],
    ['all', { covered: 9, total: 14 }, { covered: 7, total: 18 }],
  ]);
  expect(coverageTable(folders)).toMatch(/^words +61\.5 % +8\/13 +38\.9 % +7\/18$/m);
});
const NONE = { total: 0, missed: [] };
