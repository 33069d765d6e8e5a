import { afterEach, expect, test } from '@jest/globals';

import { type Demo, signIn } from '../../scripts/demo/client.js';
import { connectDemo } from '../../scripts/demo/connect.js';
import { consentTo } from '../support/consent.js';
import { startService, type TestService } from '../support/service.js';

let demo: Demo | undefined;
let service: TestService | undefined;
afterEach(async () => {
  await service?.close();
  await demo?.close();
});

test('who follows the addresses sees what lies in both accounts become searchable; a no leads to another try', async () => {
  const said: string[] = [];
  const printed: string[] = [];
  const walks: Promise<unknown>[] = [];
  /** Says no at first; chooses everything where a choice is offered, but not at the first time. */
  const person = async (visit: number, url: string): Promise<void> => {
    const page = url.includes('/connections/')
      ? { url, html: await (await fetch(url)).text() }
      : await consentTo(url, { deny: visit === 0 });
    if (!page.url.includes('/connections/')) return;
    const ids = [...page.html.matchAll(/name="ids" value="([^"]+)"/g)].map(([, id]) => id ?? '');
    const body = new URLSearchParams({ action: visit === 1 ? 'cancel' : 'choose' });
    for (const id of ids) body.append('ids', id);
    expect((await fetch(page.url, { method: 'POST', body })).status).toBe(200);
  };
  demo = await connectDemo((line) => void said.push(line), {
    open: (url) => void walks.push(person(walks.length, url)),
    print: (text) => void printed.push(text),
  });
  service = await startService({ ...demo.env });
  await demo.run(await signIn(service));
  await Promise.all(walks);
  expect(said.filter((line) => /connected|are searchable|Nothing was chosen/.test(line))).toEqual([
    'You said no to Google Drive, and nothing was connected. Here is another address:',
    'Google Drive is connected as ada@harbour.example',
    expect.stringContaining('Nothing was chosen'),
    '3 of Google Drive are searchable',
    expect.stringMatching(/^Slack is connected as /),
    '3 of Slack are searchable',
  ]);
  expect(printed.map((text) => /^ {2}1\. .*\n {5}(.*)$/m.exec(text)?.[1])).toEqual([
    expect.stringContaining('When a storm comes'),
    expect.stringContaining('the ferry sail'),
  ]);
});
