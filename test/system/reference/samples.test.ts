import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import ts from 'typescript';

import { DEFAULT_ENGINES_DIR, ensureVenv } from '../../../engines/venv.js';
import { redact } from '../../../scripts/reference/redact.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughRows } from '../../support/thorough.js';

interface Described {
  readonly 'x-codeSamples': readonly { readonly label: string; readonly source: string }[];
  readonly responses: Readonly<
    Record<string, { readonly content: Readonly<Record<string, { readonly example: unknown }>> }>
  >;
}

const run = promisify(execFile);

let service: TestService;
let folder: string;
let python: string;
let paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;

beforeAll(async () => {
  ({ python } = await ensureVenv({ enginesDir: DEFAULT_ENGINES_DIR }));
  service = await startService({}, { worker: false });
  // The sample of POST /user requests this end user; an unknown one returns 404.
  await service.user('phoenix');
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-samples-'));
  await writeFile(path.join(folder, 'package.json'), '{"type": "module"}');
  // As many bytes as the file of the recorded upload, so that the answers are equal.
  await writeFile(path.join(folder, 'old.md'), '# Old\n\nA text about harbours.\n\n');
  // pip includes the library `requests`. With this file, programs in the folder can import it.
  await writeFile(path.join(folder, 'requests.py'), 'from pip._vendor.requests import *\n');
  ({ paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as { paths: typeof paths });
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** Runs a sample with the address and the key of this service, and returns what it prints. */
async function printed(label: string, source: string): Promise<string> {
  const program = source.replaceAll('https://api.example.com', service.url);
  const options = { cwd: folder, env: { ...process.env, API_KEY: service.apiKey, NO_COLOR: '1' } };
  const file = (name: string, text: string) => writeFile(path.join(folder, name), text).then(() => name);
  if (label === 'curl') return (await run('bash', ['-c', program], options)).stdout;
  if (label === 'Python') return (await run(python, [await file('sample.py', program)], options)).stdout;
  const { outputText } = ts.transpileModule(program, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
  });
  return (await run(process.execPath, [await file('sample.js', outputText)], options)).stdout;
}

/** A Python program that reads a printed Python value and prints it as JSON. */
const PYTHON_TO_JSON = 'import ast, json, sys; print(json.dumps(ast.literal_eval(sys.stdin.read())))';

async function valueOf(label: string, text: string): Promise<unknown> {
  if (label === 'curl') return JSON.parse(text) as unknown;
  // console.log prints an object as a JavaScript expression, complete at the depth of these answers.
  if (label === 'TypeScript') return JSON.parse(runInNewContext(`JSON.stringify(${text})`) as string);
  const child = run(python, ['-c', PYTHON_TO_JSON]);
  child.child.stdin?.end(text);
  return JSON.parse((await child).stdout) as unknown;
}

/** Fields that differ from call to call: ids, names of users, and values that contain them. */
const VOLATILE = /^(?:id|.*_id|workflow_url)$/;

/** Returns an answer with secrets and times replaced as in examples, and the types of volatile fields. */
function comparable(value: unknown): unknown {
  const masked = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(masked);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(
      Object.entries(part).map(([name, inner]) => [
        name,
        VOLATILE.test(name) && inner !== null ? typeof inner : masked(inner),
      ]),
    );
  };
  return masked(redact(value, service.url));
}

describe.each([
  ['GET', '/health'],
  ['GET', '/auth/v1/access_token'],
  ['POST', '/upload_text'],
  ['POST', '/uploadfile'],
  // Further operations with a JSON body.
  ...thoroughRows([
    ['POST', '/user'],
    ['POST', '/add_webhook'],
  ] as const),
] as const)('the code samples of %s %s', (method, operationPath) => {
  test.each(['curl', 'TypeScript', 'Python'])(
    'receive the same answer as the documented example: %s',
    async (label) => {
      const described = paths[operationPath]![method.toLowerCase()]!;
      const { source } = described['x-codeSamples'].find((sample) => sample.label === label)!;
      const answer = await valueOf(label, await printed(label, source));
      expect(comparable(answer)).toEqual(comparable(described.responses['200']!.content['application/json']!.example));
    },
  );
});
