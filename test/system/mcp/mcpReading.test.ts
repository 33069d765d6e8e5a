/** Tests of agents that read a PDF, and of addresses that agents must not add. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';

import { agentToken, connectAgent } from '../../support/agent.js';
import { startService, type TestService } from '../../support/service.js';

const REPORT = new URL('../../fixtures/documents/libreoffice/report.pdf', import.meta.url);

let service: TestService;
let agent: Client;
let fileId: number;

interface ToolResult<T> {
  readonly isError?: boolean;
  readonly structuredContent: T;
  readonly content: readonly { readonly text: string }[];
}
const call = async <T>(name: string, args: Record<string, unknown>): Promise<ToolResult<T>> =>
  (await agent.callTool({ name, arguments: args })) as unknown as ToolResult<T>;

beforeAll(async () => {
  service = await startService();
  const ann = await service.user('ann');
  const content = await readFile(REPORT);
  ({ id: fileId } = await ann.send(
    { name: 'report.pdf', content },
    { chunk_size: 100, generate_sparse_vectors: true },
  ));
  await ann.settled(fileId);
  agent = await connectAgent(service.url, await agentToken(service, 'ann', { scope: 'read write' }));
});
afterAll(async () => {
  await agent.close();
  await service.close();
});

interface Part {
  readonly text: string;
  readonly page: number | null;
  readonly last_page: number | null;
  readonly next_offset: number | null;
}

test('read_file returns single pages of a PDF, and the number of the last page', async () => {
  const whole = (await call<Part>('read_file', { file_id: fileId })).structuredContent;
  const lastPageNumber = whole.last_page ?? 0;
  expect(lastPageNumber).toBeGreaterThan(1);
  const pages: Part[] = [];
  for (let page = 1; page <= lastPageNumber; page += 1)
    pages.push((await call<Part>('read_file', { file_id: fileId, page })).structuredContent);
  for (const [index, { page, last_page: lastPage, text }] of pages.entries()) {
    expect([page, lastPage]).toEqual([index + 1, lastPageNumber]);
    expect(whole.text).toContain(text);
    expect(text.length).toBeLessThan(whole.text.length);
  }
  expect(whole.text.startsWith(pages[0]?.text ?? '-')).toBe(true);
  expect(whole.text.endsWith(pages.at(-1)?.text ?? '-')).toBe(true);
  const firstPart = (await call<Part>('read_file', { file_id: fileId, page: 2, max_characters: 100 }))
    .structuredContent;
  expect(firstPart.next_offset).toBe(100);
  const secondPart = await call<Part>('read_file', { file_id: fileId, page: 2, offset: 100 });
  expect(firstPart.text + secondPart.structuredContent.text).toBe(pages[1]?.text);
  expect(await call('read_file', { file_id: fileId, page: lastPageNumber + 1 })).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining(`The last page with text is ${lastPageNumber}.`) }],
  });
});

interface Passage {
  readonly text: string;
  readonly page_from: number;
  readonly page_to: number;
  readonly boxes: readonly { page: number; x1: number; x2: number; y1: number; y2: number }[];
}

test('search cites pages, and boxes on exactly these pages', async () => {
  const query = 'How deep is the harbour entrance?';
  const { passages } = (await call<{ passages: Passage[] }>('search', { query, limit: 50 })).structuredContent;
  expect(passages.length).toBeGreaterThan(2);
  for (const { page_from: from, page_to: to, boxes, text } of passages) {
    const pages = boxes.map(({ page }) => page);
    expect(pages).toEqual(Array.from({ length: to - from + 1 }, (_, nth) => from + nth));
    for (const { x1, x2, y1, y2 } of boxes) {
      expect(x1).toBeLessThan(x2);
      expect(y1).toBeLessThan(y2);
    }
    const read = await call<Part>('read_file', { file_id: fileId, page: from });
    expect(read.structuredContent.text).toContain(text);
  }
});

const REFUSED = 'url: This service may not call this address';

test.each(['http://169.254.169.254/latest/meta-data/', 'http://127.0.0.1:8080/', 'http://[::1]/'])(
  'add_url refuses the private address %s with an explanation, and stores nothing',
  async (url) => {
    const countFiles = async () => (await call<{ count: number }>('list_files', {})).structuredContent.count;
    const countBefore = await countFiles();
    const refused = await call('add_url', { url });
    expect(refused).toMatchObject({ isError: true, content: [{ text: REFUSED }] });
    expect(await countFiles()).toBe(countBefore);
  },
);
