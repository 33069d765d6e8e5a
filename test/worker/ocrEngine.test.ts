import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';

import { everyRow } from '../support/everyRow.js';
import { ocrEngine } from '../../worker/ocrEngine.js';

/**
 * Returns the warnings that are logged if Tesseract is installed with these languages. Each warning is a pair: the list
 * of missing languages, and the text of the warning.
 */
async function warningsFor(installed: readonly string[]): Promise<[unknown, string][]> {
  const searchPath = await mkdtemp(path.join(tmpdir(), 'allotrope-tesseract-'));
  try {
    const program = path.join(searchPath, 'tesseract');
    await writeFile(program, `#!/bin/sh\necho 'tesseract 5.3.0'\nprintf '%s\\n' ${installed.join(' ')}\n`);
    await chmod(program, 0o755);
    const warnings: [unknown, string][] = [];
    const log = {
      info: () => undefined,
      warn: ({ missing }: { missing: unknown }, text: string) => void warnings.push([missing, text]),
    };
    await ocrEngine({ searchPath, languages: ['eng', 'deu'] } as never, log as never);
    return warnings;
  } finally {
    await rm(searchPath, { recursive: true, force: true });
  }
}

test('warns of languages that the installed Tesseract cannot read, and separately of script detection', async () => {
  const languages = expect.stringContaining('pages in these languages cannot be read');
  const detection = expect.stringContaining('script detection');
  await everyRow(
    [
      [['osd', 'eng', 'deu'], []],
      [['osd', 'eng'], [[['deu'], languages]]],
      [['eng', 'deu'], [[['osd'], detection]]],
      [
        ['eng'],
        [
          [['deu'], languages],
          [['osd'], detection],
        ],
      ],
    ] as const,
    ([installed]) => installed.join(' '),
    async ([installed, warnings]) => expect(await warningsFor(installed)).toEqual(warnings),
  );
});
