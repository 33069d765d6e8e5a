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

test('makes the content of both accounts searchable after consent, and asks again after denied consent', async () => {
  const logLines: string[] = [];
  const printed: string[] = [];
  const visits: Promise<unknown>[] = [];
  /** Denies consent at first, then cancels the first selection, then selects everything. */
  const answerAsUser = async (visit: number, url: string): Promise<void> => {
    const page = url.includes('/connections/')
      ? { url, html: await (await fetch(url)).text() }
      : await consentTo(url, { deny: visit === 0 });
    if (!page.url.includes('/connections/')) return;
    const ids = [...page.html.matchAll(/name="ids" value="([^"]+)"/g)].map(([, id]) => id ?? '');
    const body = new URLSearchParams({ action: visit === 1 ? 'cancel' : 'choose' });
    for (const id of ids) body.append('ids', id);
    expect((await fetch(page.url, { method: 'POST', body })).status).toBe(200);
  };
  demo = await connectDemo((line) => void logLines.push(line), {
    open: (url) => void visits.push(answerAsUser(visits.length, url)),
    print: (text) => void printed.push(text),
  });
  service = await startService({ ...demo.env });
  await demo.run(await signIn(service));
  await Promise.all(visits);
  expect(logLines.filter((line) => /connected|are searchable|Nothing was selected/.test(line))).toEqual([
    'You refused access to Google Drive, so it is not connected. Try again:',
    'Google Drive is connected as ada@harbour.example',
    expect.stringContaining('Nothing was selected'),
    '3 files of Google Drive are searchable',
    expect.stringMatching(/^Slack is connected as /),
    '3 files of Slack are searchable',
  ]);
  expect(printed.map((text) => /^ {2}1\. .*\n {5}(.*)$/m.exec(text)?.[1])).toEqual([
    expect.stringContaining('When a storm comes'),
    expect.stringContaining('the ferry sail'),
  ]);
});
