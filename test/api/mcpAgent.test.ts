/**
 * Tests of an MCP agent's resources and calls with stores in memory: pages, limits, ranges, scopes and errors.
 */
import { expect, test } from '@jest/globals';

import { HttpError } from '../../api/http/errors.js';
import type { Operation } from '../../api/http/operation.js';
import type { Agent } from '../../api/mcp/agent.js';
import { callTool } from '../../api/mcp/callTool.js';
import { listResources, readResource } from '../../api/mcp/resources.js';
import { StoreFailure } from '../../contract/storeFailures.js';

const CALLER = { organizationId: 1, userId: 2, customerId: 'ann' };

interface Parts {
  readonly perform?: (operation: Operation, input: { body?: never; query?: never; params?: never }) => unknown;
  readonly store?: object;
  readonly maxCharacters?: number;
  readonly mayWrite?: boolean;
}

/** Returns an agent, the requests that it sends to operations, and its log lines. */
function agentOf({ perform = () => ({}), store = {}, maxCharacters = 100_000, mayWrite = true }: Parts) {
  const requests: unknown[] = [];
  const lines: Record<string, unknown>[] = [];
  const log = (fields: Record<string, unknown>, text: string) => lines.push({ ...fields, text });
  const agent = {
    ...{ caller: CALLER, requestId: 'r1', mayWrite },
    deps: { store, settings: { mcpMaxResultCharacters: maxCharacters }, log: { info: log, error: log } },
    perform(called: Operation, input: never) {
      requests.push([called.path, input]);
      return Promise.resolve(perform(called, input));
    },
  } as unknown as Agent;
  return { agent, requests, lines };
}

/** Answers like POST /user_files_v2 with the files 1 to 230. */
function filesAfter(_operation: unknown, { body }: { body?: never }) {
  const { limit, starting_id: after } = (body as unknown as { pagination: Record<string, number> }).pagination;
  const ids = Array.from({ length: 230 }, (_, nth) => nth + 1).filter((id) => id > after!);
  const results = ids.slice(0, limit).map((id) => ({ id, name: null, source: 'TEXT', sync_status: 'READY' }));
  return { results, count: ids.length };
}

test.each([[100_000], [3_000], [1_050]])(
  'resources/list names each file once, however few of them fit in %d characters',
  async (maxCharacters) => {
    const { agent, requests } = agentOf({ perform: filesAfter, maxCharacters });
    const uris: string[] = [];
    let cursor: string | undefined;
    do {
      const { resources, nextCursor } = await listResources(cursor, agent);
      uris.push(...resources.map(({ uri }) => uri));
      cursor = nextCursor;
    } while (cursor !== undefined);
    expect(uris).toEqual(Array.from({ length: 230 }, (_, nth) => `allotrope://files/${nth + 1}`));
    const body = { filters: { include_containers: false }, order_by: 'id', pagination: { limit: 100, starting_id: 0 } };
    expect(requests[0]).toEqual(['/user_files_v2', { body }]);
    await expect(listResources('-1', agent)).rejects.toMatchObject({ code: -32_602 });
  },
);

const FILE = { _id: 5, organizationId: 1, userId: 2, generation: 3, hasText: true, hasContent: false };
const TEXT_FILE = { ...FILE, name: 'a', source: 'PDF', externalUrl: null, original: null, syncStatus: 'READY' };

/**
 * Reads the resource of a file whose original has `bytes` bytes. A result has room for 400 characters of base64, which
 * are 300 bytes.
 */
async function readOriginal(file: object, bytes: number) {
  const asked: unknown[] = [];
  async function* parts() {
    for (let left = bytes; left > 0; left -= 100) yield await Promise.resolve(Buffer.alloc(Math.min(left, 100), 7));
  }
  const { agent, requests } = agentOf({
    maxCharacters: 1_400,
    perform: () => ({ presigned_url: 'http://link' }),
    store: {
      files: { byIds: (caller: object, ids: number[]) => (asked.push(caller, ids), Promise.resolve([file])) },
      originals: { stream: (ref: object, id: number) => (asked.push(ref, id), Promise.resolve(parts())) },
      contents: { get: (ref: object) => (asked.push(ref), Promise.resolve(Buffer.alloc(bytes, 7))) },
    },
  });
  const { contents } = await readResource('allotrope://files/5/original', agent);
  return { asked, requests, content: contents[0] as { blob?: string; text?: string } };
}

test('an original is returned as bytes if it fits, else as a link', async () => {
  const uploaded = { ...TEXT_FILE, original: { id: 9, size: 300 } };
  const small = await readOriginal(uploaded, 300);
  expect(Buffer.from(small.content.blob!, 'base64')).toEqual(Buffer.alloc(300, 7));
  expect(small.requests).toEqual([]);
  expect(small.asked).toEqual([CALLER, [5], expect.objectContaining({ kind: 'original', fileId: 5 }), 9]);
  const large = await readOriginal(uploaded, 301);
  expect([large.content.blob, large.content.text]).toEqual([undefined, expect.stringContaining('http://link')]);
  expect(large.requests).toEqual([['/raw_file/{file_id}', { params: { file_id: '5' } }]]);
  const fetched = await readOriginal({ ...TEXT_FILE, hasContent: true }, 10);
  expect(fetched.asked.at(-1)).toEqual({ organizationId: 1, fileId: 5, generation: 3, kind: 'raw' });
  expect(Buffer.from(fetched.content.blob!, 'base64')).toHaveLength(10);
  expect((await readOriginal(TEXT_FILE, 10)).content.text).toContain('http://link');
});

test('errors of resources have the codes of the protocol', async () => {
  const codeOf = async (uri: string, byIds: () => Promise<object[]>) =>
    readResource(uri, agentOf({ store: { files: { byIds } } }).agent).catch((error: { code: number }) => error.code);
  const one = 'allotrope://files/5';
  expect(await codeOf('allotrope://users/5', () => Promise.resolve([]))).toBe(-32_002);
  expect(await codeOf(one, () => Promise.resolve([]))).toBe(-32_002);
  expect(await codeOf(one, () => Promise.resolve([{ ...TEXT_FILE, hasText: false }]))).toBe(-32_602);
  const failure = new StoreFailure('MongoDB', 'unreachable', new Error('away'));
  expect(await codeOf(one, () => Promise.reject(failure))).toBe(-32_603);
  expect(await codeOf(one, () => Promise.reject(new TypeError('defect')))).toBe(-32_603);
});

/** Calls read_file for a file of 60 characters whose page 2 has the characters 20 to 39. */
async function readFile(input: object) {
  const text = Array.from({ length: 60 }, (_, nth) => String.fromCharCode(48 + nth)).join('');
  const owners: unknown[] = [];
  const store = {
    files: { byIds: () => Promise.resolve([TEXT_FILE]) },
    chunks: {
      lastPage: (owner: object) => (owners.push(owner), Promise.resolve(3)),
      rangeOfPage: (owner: object, page: number) => (
        owners.push(owner),
        Promise.resolve(page === 2 ? { start: 20, end: 40 } : null)
      ),
      textFrom: (owner: object, offset: number, length: number) => (
        owners.push(owner),
        Promise.resolve(text.slice(offset, offset + length) || null)
      ),
    },
  };
  const result = await callTool('read_file', { file_id: 5, max_characters: 100, ...input }, agentOf({ store }).agent);
  expect(new Set(owners.map((owner) => JSON.stringify(owner)))).toEqual(
    new Set([JSON.stringify({ ...CALLER, fileId: 5, generation: 3 })]),
  );
  const { content, structuredContent: part, isError } = result;
  return { part, isError, text, message: (content as { text: string }[])[0]!.text };
}

test('read_file returns exactly the text of a page or from an offset, and an error after the end', async () => {
  const { part, text } = await readFile({ page: 2 });
  expect(part).toMatchObject({
    text: text.slice(20, 40),
    offset: 0,
    next_offset: null,
    page: 2,
    last_page: 3,
    more: null,
  });
  expect((await readFile({ page: 2, offset: 15 })).part).toMatchObject({ text: text.slice(35, 40), next_offset: null });
  expect((await readFile({ page: 2, offset: 20 })).message).toContain('ends before offset 20');
  expect((await readFile({ offset: 60 })).isError).toBe(true);
  expect((await readFile({ page: 4 })).message).toContain('last page with text is 3');
  expect((await readFile({ offset: 50 })).part).toMatchObject({ text: text.slice(50), page: null, next_offset: null });
});

const RECORD = { id: 8, name: 'n', source: 'TEXT', external_url: null, sync_status: 'QUEUED_FOR_SYNC' };
const BASE = { generate_sparse_vectors: true };
/** Tools, their arguments, and the requests that they become. */
const REQUESTS: readonly (readonly [tool: string, input: object, path: string, input: unknown])[] = [
  [
    'add_url',
    { url: 'https://a.test/', depth: 2, max_pages: 7, tags: { team: 'red' } },
    '/web_scrape',
    {
      body: [{ ...BASE, url: 'https://a.test/', recursion_depth: 2, max_pages_to_scrape: 7, tags: { team: 'red' } }],
    },
  ],
  [
    'add_url',
    { url: 'https://a.test/' },
    '/web_scrape',
    { body: [{ ...BASE, url: 'https://a.test/', recursion_depth: 0, max_pages_to_scrape: 50 }] },
  ],
  ['upload_text', { text: 'hello', name: 'n' }, '/upload_text', { body: { ...BASE, contents: 'hello', name: 'n' } }],
  [
    'upload_text',
    { text: 'hello', name: 'n', replaces_file_id: 6 },
    '/upload_text',
    { body: { ...BASE, contents: 'hello', name: 'n', overwrite_file_id: 6 } },
  ],
  ['resync', { file_id: 6 }, '/resync_file', { body: { file_id: 6 } }],
];

test.each(REQUESTS)(
  '%s with %j sends its arguments and returns the queued file, or is refused without write access',
  async (tool, input, path, sent) => {
    const { agent, requests, lines } = agentOf({ perform: () => (tool === 'add_url' ? [RECORD] : RECORD) });
    const { structuredContent: result } = await callTool(tool, { ...input }, agent);
    expect(requests).toEqual([[path, sent]]);
    expect(result).toMatchObject({ file_id: 8, status: 'QUEUED_FOR_SYNC', notice: expect.stringContaining('never') });
    expect(lines).toMatchObject([{ tool, outcome: 'ok', organizationId: 1, userId: 2, requestId: 'r1' }]);
    const reader = agentOf({ mayWrite: false });
    await expect(callTool(tool, { ...input }, reader.agent)).rejects.toMatchObject({ code: -32_602 });
    expect([reader.requests, reader.lines[0]!['outcome']]).toEqual([[], 'refused']);
  },
);

test('list_sources continues after the last source that fits', async () => {
  const results = [1, 2, 3].map((id) => ({ id, data_source_type: 'BOX', revoked_access: id === 2 }));
  const list = async (input: object, maxCharacters?: number) => {
    const { agent, requests } = agentOf({
      perform: () => ({ results, count: 8 }),
      ...(maxCharacters && { maxCharacters }),
    });
    const { structuredContent } = await callTool('list_sources', { ...input }, agent);
    return { requests, ...(structuredContent as { sources: { has_access: boolean }[]; more: string | null }) };
  };
  const { requests, sources, more } = await list({ limit: 3, offset: 2 });
  const body = { order_by: 'created_at', pagination: { limit: 3, offset: 2 } };
  expect(requests).toEqual([['/user_data_sources', { body }]]);
  expect(sources.map(({ has_access: hasAccess }) => hasAccess)).toEqual([true, false, true]);
  expect(more).toContain('offset 5');
  expect((await list({ offset: 5 })).more).toBeNull();
  expect((await list({ offset: 2 }, 1_060)).more).toContain('offset 3');
});

test('a failed call is a result that says what to do; only a defect is also logged as an error', async () => {
  const call = async (error: unknown, input: object = { file_id: 6 }) => {
    const { agent, lines } = agentOf({
      perform: () => Promise.reject(error as Error),
    });
    const { isError, content } = await callTool('resync', { ...input }, agent);
    expect(isError).toBe(true);
    return { message: (content as { text: string }[])[0]!.text, texts: lines.map(({ text }) => text), lines };
  };
  const limited = await call(new HttpError(429, 'Too many.', 7));
  expect([limited.message, limited.texts]).toEqual(['Too many. Retry after 7 s.', ['MCP tool call']]);
  expect(limited.lines[0]).toMatchObject({ outcome: 'failed' });
  expect((await call(new StoreFailure('Qdrant', 'unreachable', new Error('away')))).message).toContain('Qdrant');
  const defect = await call(new TypeError('secret'));
  expect([defect.message, defect.texts.length]).toEqual([expect.stringMatching(/^(?!.*secret).*r1/), 2]);
  const unknown = await call(null, { file_id: 6, other: 1 });
  expect([unknown.message, unknown.lines[0]!['outcome']]).toEqual([
    expect.stringContaining('Unknown arguments: 1'),
    'refused',
  ]);
  expect((await call(null, {})).message).toContain('file_id');
});
