/** Generators of TypeScript clients, and the compiler for programs that use them. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { run } from '../../../engines/run.js';
import { installedPackages } from '../fetchedOnce.js';

const FOLDER = fileURLToPath(new URL('../../clients', import.meta.url));
const NODE = process.execPath;

/** Returns the folder that contains the node_modules of test/clients. */
export const clientPackages = (): Promise<string> =>
  installedPackages('test-clients-node-', FOLDER, 'the packages of test/clients (60 MB)');

/** Generates types with openapi-typescript. */
export async function generateTypes(document: string, to: string): Promise<string> {
  const cli = path.join(await clientPackages(), 'node_modules/openapi-typescript/bin/cli.js');
  return run(NODE, [cli, document, '-o', to, '--default-non-nullable', 'false']);
}

/** Generates a client with @hey-api/openapi-ts. */
export async function generateHeyApi(document: string, to: string): Promise<string> {
  const cli = path.join(await clientPackages(), 'node_modules/@hey-api/openapi-ts/bin/run.js');
  return run(NODE, [cli, '-i', document, '-o', to, '--no-log-file']);
}

const OPTIONS = {
  module: 'ESNext',
  moduleResolution: 'Bundler',
  target: 'ES2022',
  lib: ['ES2023', 'DOM', 'DOM.Iterable'],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: true,
  noEmit: true,
  types: ['node'],
};

/**
 * Checks TypeScript with strict types. The folder or a parent must contain node_modules. @throws with the errors of the
 * compiler
 */
export async function checkTypes(folder: string, files: readonly string[]): Promise<void> {
  const config = path.join(folder, 'tsconfig.json');
  await writeFile(config, JSON.stringify({ compilerOptions: OPTIONS, files }));
  await run(NODE, [path.join(await clientPackages(), 'node_modules/typescript/bin/tsc'), '-p', config]);
}

/** Runs a TypeScript file. @returns what it prints */
export async function runTypeScript(file: string): Promise<string> {
  const tsx = fileURLToPath(new URL('../../../node_modules/tsx/dist/cli.mjs', import.meta.url));
  return run(NODE, [tsx, file]);
}
