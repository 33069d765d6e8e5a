import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { DEFAULT_ENGINES_DIR } from '../../../engines/venv.js';

const SCRIPT = fileURLToPath(new URL('../../fixtures/documents/write.py', import.meta.url));
let written: Readonly<Record<string, string>> | null = null;

/**
 * Returns a function that returns a file by its name in test/fixtures/documents/write.py, which creates the files with
 * Python's standard library during the test.
 */
export const byPython = (name: string) => (): Uint8Array => {
  written ??= JSON.parse(
    execFileSync(`${DEFAULT_ENGINES_DIR}/venv/bin/python`, ['-B', SCRIPT], { encoding: 'utf8', maxBuffer: 10_000_000 }),
  ) as Record<string, string>;
  const content = written[name];
  if (content === undefined) throw new Error(`write.py does not write ${name}`);
  return new Uint8Array(Buffer.from(content, 'base64'));
};
