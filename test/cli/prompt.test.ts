import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const MODULE = fileURLToPath(new URL('../../cli/prompt.ts', import.meta.url));
const SCRIPT = `
  const { waitForEnter } = await import(${JSON.stringify(MODULE)});
  await waitForEnter('Press Enter. ', new AbortController().signal).then(
    () => console.log('continued'),
    (error) => console.log(error.message),
  );`;

/** Starts a process that waits for Enter, and sends it only this input. Returns its stderr and stdout. */
async function printed(input: string): Promise<readonly string[]> {
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', SCRIPT]);
  child.stdin.end(input);
  return Promise.all([text(child.stderr), text(child.stdout)]);
}

test('a command that waits for Enter continues when Enter is pressed, and fails if its input ends before', async () => {
  const [pressed, ended] = await Promise.all([printed('\n'), printed('')]);
  expect(pressed).toEqual(['Press Enter. ', 'continued\n']);
  expect(ended).toEqual(['Press Enter. ', expect.stringContaining('Run the command in a terminal.')]);
});
