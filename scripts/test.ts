/**
 * `npm test`: jest with the arguments given, then the plain line of counts that CI reads.
 *
 * Of the whole run, suites that failed are run once more when all others are done, one at a time: they share two cores,
 * at times with strangers, and what depends on the moment fails once in thousands of tests. The first failure is
 * printed, and each such suite is named at the end: it is a fault to be found, not one that is gone.
 */
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface SuiteResult {
  readonly name: string;
  readonly status: string;
  readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
}

const JEST = fileURLToPath(new URL('../node_modules/jest/bin/jest.js', import.meta.url));
const given = process.argv.slice(2);
const REPORT = join(tmpdir(), `allotrope-tests-${process.pid}.json`);

/** Runs jest to its end. @returns null when it left no report, so that nothing is known of its tests. */
async function runJest(args: readonly string[]): Promise<readonly SuiteResult[] | null> {
  await rm(REPORT, { force: true });
  const child = spawn(
    process.execPath,
    ['--experimental-vm-modules', '--no-warnings', JEST, '--json', '--outputFile', REPORT, ...args],
    { stdio: 'inherit' },
  );
  await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
  try {
    return (JSON.parse(await readFile(REPORT, 'utf8')) as { testResults: SuiteResult[] }).testResults;
  } catch {
    return null;
  } finally {
    await rm(REPORT, { force: true });
  }
}

const hasFailed = ({ status }: SuiteResult): boolean => status === 'failed';

const first = await runJest(given);
const suites = new Map(first?.map((suite) => [suite.name, suite]));
const failed = [...suites.values()].filter(hasFailed);
if (given.length === 0 && failed.length > 0) {
  process.stdout.write(`\nONCE MORE, ALONE: ${failed.length} of ${suites.size} suites\n`);
  const again = await runJest(['--runInBand', '--runTestsByPath', ...failed.map(({ name }) => name)]);
  for (const suite of again ?? []) suites.set(suite.name, suite);
  for (const { name, assertionResults } of failed)
    if (suites.get(name)?.status === 'passed')
      for (const { fullName } of assertionResults.filter(({ status }) => status === 'failed'))
        process.stdout.write(`PASSED ONLY ON THE SECOND TRY: ${name}: ${fullName}\n`);
}

const counts = { passed: 0, failed: first === null ? 1 : 0, skipped: 0 };
for (const suite of suites.values()) {
  for (const { status } of suite.assertionResults)
    if (status === 'passed') counts.passed++;
    else if (status === 'failed') counts.failed++;
    else counts.skipped++;
  // One that could not even be loaded has no tests to count.
  if (hasFailed(suite) && !suite.assertionResults.some(({ status }) => status === 'failed')) counts.failed++;
}
process.stdout.write(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1;
