/**
 * `npm test`: runs Jest with the given arguments, then prints the slowest suites, the processor time, and the line of
 * counts that CI reads. If the arguments name no suite, failed suites then run once more, one at a time. Tests that
 * pass only the second time are printed as such. Their suite counts as passed only if test/flaky.json names, with a
 * suspected cause, every test of it that failed the first time. Otherwise the first result counts.
 */
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

interface SuiteResult {
  readonly name: string;
  readonly status: string;
  /** Time of its tests and hooks, in milliseconds since 1970. */
  readonly startTime: number;
  readonly endTime: number;
  readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const JEST = join(ROOT, 'node_modules/jest/bin/jest.js');
/** Tests that may pass on the second attempt: suspected causes by `suite: test`. */
const FLAKY = join(ROOT, 'test/flaky.json');
const SLOWEST = 20;
/**
 * Options of Node for Jest and its worker processes. Concurrent garbage collection takes a tenth more processor time on
 * two cores.
 */
const NODE_OPTIONS = ['--experimental-vm-modules', '--no-warnings', '--single-threaded-gc'];
/** Linux, all architectures: sysconf(_SC_CLK_TCK). */
const TICKS_PER_S = 100;

const given = process.argv.slice(2);
const REPORT = join(tmpdir(), `allotrope-tests-${process.pid}.json`);
/** File in which test/support/answeredOperations.ts records the operations that succeeded. */
const ANSWERED = join(tmpdir(), `allotrope-answered-${process.pid}.txt`);
/**
 * Whether the arguments name no suite. Then all suites run that the Jest configuration selects: jest.config.cjs, or
 * that of the option `--config` (`npm run test:system`).
 */
const isWhole = !given.some((argument) => argument === '--runTestsByPath' || argument.startsWith('test/'));

/** Runs Jest. @returns null if it wrote no report, so the results are unknown */
async function runJest(args: readonly string[]): Promise<readonly SuiteResult[] | null> {
  await rm(REPORT, { force: true });
  const child = spawn(process.execPath, [...NODE_OPTIONS, JEST, '--json', '--outputFile', REPORT, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...(given.length === 0 ? { TEST_ANSWERED: ANSWERED } : {}) },
  });
  await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  try {
    return (JSON.parse(await readFile(REPORT, 'utf8')) as { testResults: SuiteResult[] }).testResults;
  } catch {
    return null;
  } finally {
    await rm(REPORT, { force: true });
  }
}

/** Returns the processor seconds of ended child processes; null if unknown. */
async function childSeconds(): Promise<number | null> {
  // proc(5): after the name in parentheses, cutime and cstime are the 14th and 15th field.
  const stat = await readFile('/proc/self/stat', 'utf8').catch(() => null);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields ? (Number(fields[13]) + Number(fields[14])) / TICKS_PER_S : null;
}

/** Returns the operations of the public API for which no test of this run received a successful response. */
async function unansweredOperations(): Promise<string[]> {
  const { paths } = JSON.parse(await readFile(join(ROOT, 'test/fixtures/openapi.json'), 'utf8')) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const answered = new Set((await readFile(ANSWERED, 'utf8').catch(() => '')).split('\n'));
  await rm(ANSWERED, { force: true });
  return Object.entries(paths)
    .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`))
    .filter((operation) => !answered.has(operation));
}

const hasFailed = ({ status }: SuiteResult): boolean => status === 'failed';
const pathOf = ({ name }: SuiteResult): string => relative(ROOT, name);

const began = performance.now();
const firstResults = await runJest(given);
const suites = new Map(firstResults?.map((suite) => [suite.name, suite]));
const failed = [...suites.values()].filter(hasFailed);
if (isWhole && failed.length > 0) {
  process.stdout.write(`\nRETRY, ONE SUITE AT A TIME: ${failed.length} of ${suites.size} suites\n`);
  const flakySuites = JSON.parse(await readFile(FLAKY, 'utf8')) as Record<string, string>;
  // Jest refuses --maxWorkers together with --runInBand.
  const options = given.filter((argument) => !argument.startsWith('--maxWorkers='));
  const retried = await runJest([...options, '--runInBand', '--runTestsByPath', ...failed.map(({ name }) => name)]);
  for (const suite of retried ?? []) {
    const before = suites.get(suite.name);
    if (before === undefined || suite.status !== 'passed') continue;
    const flaky = before.assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName);
    for (const test of flaky) process.stdout.write(`PASSED ONLY ON THE SECOND TRY: ${pathOf(suite)}: ${test}\n`);
    if (flaky.length > 0 && flaky.every((test) => flakySuites[`${pathOf(suite)}: ${test}`]))
      suites.set(suite.name, suite);
  }
}

const counts = { passed: 0, failed: firstResults === null ? 1 : 0, skipped: 0 };
for (const suite of suites.values()) {
  for (const { status } of suite.assertionResults)
    if (status === 'passed') counts.passed++;
    else if (status === 'failed') counts.failed++;
    else counts.skipped++;
  // A suite that could not be loaded has no tests to count.
  if (hasFailed(suite) && !suite.assertionResults.some(({ status }) => status === 'failed')) counts.failed++;
}
if (given.length === 0) {
  const unanswered = await unansweredOperations();
  if (unanswered.length > 0) counts.failed++;
  for (const operation of unanswered) process.stdout.write(`NO TEST RECEIVES A SUCCESSFUL RESPONSE: ${operation}\n`);
}
if (suites.size > 1) {
  const secondsOf = ({ startTime, endTime }: SuiteResult): number => (endTime - startTime) / 1000;
  const slowest = [...suites.values()].toSorted((a, b) => secondsOf(b) - secondsOf(a)).slice(0, SLOWEST);
  process.stdout.write(`\nThe ${slowest.length} slowest of ${suites.size} suites, in seconds:\n`);
  for (const suite of slowest) process.stdout.write(`${secondsOf(suite).toFixed(1).padStart(7)}  ${pathOf(suite)}\n`);
}
const processor = await childSeconds();
process.stdout.write(`\n${((performance.now() - began) / 1000).toFixed(0)} s`);
process.stdout.write(processor === null ? '\n' : `, ${processor.toFixed(0)} s of processor time\n`);
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
