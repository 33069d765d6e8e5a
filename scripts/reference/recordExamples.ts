/**
 * `npm run docs:examples`: runs the tests, and chooses an example of each operation from their calls. Arguments are
 * those of `npm test`, such as `--runTestsByPath test/api/…`. `--from=FILE` uses the calls of an earlier run with
 * `TEST_EXAMPLES=FILE npm test` instead. Existing examples that are still valid are not replaced; `--renew` replaces
 * every example of an operation that was called.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { openApiDocument } from '../../api/openapi/document.js';
import { type Example, readExamples } from '../../api/openapi/examples.js';
import { createExampleCheck, type DocumentedCall, documentedCallsOf } from './exampleFaults.js';
import { type Call, chooseExample } from './chooseExample.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, 'api/openapi/examples');

/** Returns the file of a tag: `White Label` → `whiteLabel.json`. */
const fileOf = (tag: string): string =>
  `${tag.charAt(0).toLowerCase()}${tag.slice(1).replaceAll(/ ([A-Z])/g, '$1')}.json`;

const callsIn = (text: string): Call[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Call);

async function callsOfTests(args: readonly string[]): Promise<Call[]> {
  const folder = await mkdtemp(join(tmpdir(), 'allotrope-examples-'));
  const file = join(folder, 'calls.jsonl');
  try {
    const child = spawn(process.execPath, ['--import', 'tsx', join(ROOT, 'scripts/test.ts'), ...args], {
      stdio: 'inherit',
      env: { ...process.env, TEST_EXAMPLES: file },
    });
    await new Promise((resolve, reject) => child.once('close', resolve).once('error', reject));
    return callsIn(await readFile(file, 'utf8').catch(() => ''));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const given = process.argv.slice(2);
const renews = given.includes('--renew');
const callsFile = given.find((argument) => argument.startsWith('--from='))?.slice('--from='.length);
const calls =
  callsFile === undefined
    ? await callsOfTests(given.filter((argument) => argument !== '--renew'))
    : callsIn(await readFile(callsFile, 'utf8'));
const document = openApiDocument();
const faultsOf = createExampleCheck(document);
const existingExamples = readExamples();
const files = new Map<string, Record<string, Example>>();
const missing: string[] = [];
for (const place of documentedCallsOf(document)) {
  const { operationId, tags } = place.described;
  const chosen = exampleOf(place);
  if (!chosen) missing.push(`${place.method.toUpperCase()} ${place.path}`);
  // A file without any valid example is written too, so that invalid ones are removed.
  files.set(tags[0], { ...files.get(tags[0]), ...(chosen && { [operationId]: chosen }) });
}
for (const [tag, examples] of files)
  await writeFile(join(FOLDER, fileOf(tag)), `${JSON.stringify(examples, null, 2)}\n`);
process.stdout.write(`${[...missing.map((name) => `NO EXAMPLE: ${name}`), `${missing.length} missing`].join('\n')}\n`);

function exampleOf(place: DocumentedCall): Example | null {
  const before = existingExamples[place.described.operationId];
  const isValid = before !== undefined && faultsOf(place, before).length === 0;
  if (isValid && !renews) return before;
  return chooseExample(place, calls, faultsOf) ?? (isValid ? before : null);
}
