/** Tests of the command that records an account, against emulators. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { runCli } from '../../cli/run.js';
import type { Recording } from '../../cli/recording/fixture.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { cli, cliWithPerson } from '../support/cli.js';
import { answerConsent } from '../support/consent.js';
import { suppliedCredentials } from '../support/sourceFixtures/credentials.js';
import type { SourceFixture } from '../support/sourceFixtures/fixture.js';
import { fixtureForBox } from '../support/sourceFixtures/box.js';
import { fixtureForGitBook } from '../support/sourceFixtures/gitbook.js';

let folder: string;
let gitbook: SourceFixture;
let box: SourceFixture;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-record-'));
  [gitbook, box] = await Promise.all([fixtureForGitBook(), fixtureForBox()]);
  gitbook.reset();
  box.reset();
});
afterAll(async () => {
  await Promise.all([gitbook.close(), box.close(), rm(folder, { recursive: true, force: true })]);
});

const BASE = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1' };
const gitbookEnv = () => ({
  ...BASE,
  SOURCE_URLS: gitbook.settings,
  RECORD_CREDENTIALS: JSON.stringify(suppliedCredentials.GITBOOK),
});
const fileAt = (name: string): string => path.join(folder, name);
const readRecording = async (name: string) => JSON.parse(await readFile(fileAt(name), 'utf8')) as Recording;

test('prompts the user for a change and a deletion, and writes the recording', async () => {
  const prompts: string[] = [];
  const { code, lines } = await cliWithPerson(
    gitbookEnv(),
    (prompt) => {
      prompts.push(prompt);
      // At the first prompt, the user presses Enter without having made the changes.
      const [changed = '', deleted = ''] = [...prompts[0]!.matchAll(/\(id (.+)\)/g)].map(([, id]) => id!);
      if (prompts.length === 2) {
        gitbook.write(changed, 'Changed.');
        gitbook.remove(deleted);
      }
      return Promise.resolve();
    },
    ...['record', 'gitbook', '--out', fileAt('changes.json'), '--containers', '1', '--items', '1'],
  );
  expect([code, lines[0]]).toEqual([0, expect.stringContaining('requests of GitBook')]);
  expect(prompts).toEqual([
    expect.stringMatching(/change the content of this item[\s\S]+delete this item/),
    expect.stringContaining('does not report both changes yet'),
  ]);
  const recording = await readRecording('changes.json');
  expect(recording).toMatchObject({ source: 'GITBOOK', account: 'emulator', hasChanges: true });
  expect(recording.steps.map(({ name }) => name)).toEqual(['connect', 'list', 'read', 'point', 'changes']);
});

test('obtains consent in a browser, with a callback on loopback', async () => {
  gitbook.reset();
  let printed = '';
  const code = await runCli(['record', 'BOX', '--no-changes', '--port', '0', '--out', fileAt('box.json')], {
    env: { ...BASE, SOURCE_URLS: box.settings, RECORD_OAUTH_CLIENT: `${CLIENT_ID}:${CLIENT_SECRET}` },
    isInteractive: false,
    out: () => undefined,
    err(text) {
      printed += text;
      const [url] = /http:\S+/.exec(text) ?? [];
      if (url !== undefined) void answerConsent(url).then((callback) => fetch(callback));
    },
    waitForEnter: () => Promise.reject(new Error('not asked with --no-changes')),
    stopped: new AbortController().signal,
  });
  expect([code, printed]).toEqual([0, expect.stringContaining('Open this address in a browser')]);
  const recording = await readRecording('box.json');
  expect(recording).toMatchObject({ source: 'BOX', hasChanges: false });
  expect(recording.steps.map(({ name }) => name)).toEqual(['connect', 'list', 'read']);
  const text = JSON.stringify(recording);
  for (const secret of box.allSecrets!()) expect(text).not.toContain(secret);
});

const FAILURES: readonly (readonly [what: string, args: string[], env: () => object, code: number, error: RegExp])[] = [
  ['an unknown source', ['nothing'], gitbookEnv, 2, /unknown source nothing\. Give one of .*GITBOOK/],
  ['missing credentials', ['gitbook'], () => BASE, 1, /Set RECORD_CREDENTIALS .* docs\/adding-a-source\.md/],
  [
    'no token and no client',
    ['box'],
    () => BASE,
    1,
    /Set RECORD_ACCESS_TOKEN .* or RECORD_OAUTH_CLIENT .*:8791\/callback/,
  ],
  [
    'a missing parameter',
    ['zendesk'],
    () => BASE,
    2,
    /--parameter subdomain=VALUE is missing: the first part of the host/,
  ],
  [
    'an invalid parameter',
    ['zendesk', '--parameter', 'subdomain=a.b/'],
    () => BASE,
    2,
    /--parameter subdomain requires the first part/,
  ],
  [
    'refused credentials',
    ['gitbook', '--no-changes'],
    () => ({ ...gitbookEnv(), RECORD_CREDENTIALS: '{"organization":"harbour-org","accessToken":"gb-secret-nobody"}' }),
    1,
    /GitBook [\s\S]+Nothing was saved/,
  ],
];

test.each(FAILURES)('explains %s in the error message, and saves nothing', async (_what, args, env, code, error) => {
  const run = await cli(env() as NodeJS.ProcessEnv, 'record', ...args, '--out', fileAt('failed.json'));
  expect([run.code, run.stderr]).toEqual([code, expect.stringMatching(error)]);
  expect(run.stderr).not.toContain('gb-secret-nobody');
  expect(await readdir(folder)).not.toContain('failed.json');
});
