/** Tests of the MCP endpoint with the official clients for TypeScript and Python. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/sdk/client/index.js';

import { agentToken, connectAgent } from '../../support/agent.js';
import { startSite, type Site } from '../../emulators/site.js';
import { PYTHON, PYTHON_AGENT, pythonClient } from '../../support/mcp/pythonClient.js';
import { startService, type TestService } from '../../support/service.js';
import type { TestUser } from '../../support/client.js';
import { waitFor } from '../../support/waitFor.js';

const PUBLIC_URL = 'https://files.example';
const LIMIT = 5_000;
const CANARY = { ann: 'canary-heron-5519', ben: 'canary-plover-8824' };
type Name = keyof typeof CANARY;

let service: TestService;
let site: Site;
const lines: Record<string, unknown>[] = [];
const users = {} as Record<Name, TestUser>;
const readers = {} as Record<Name, Client>;
let writer: Client;
const fileIds = {} as Record<Name, number>;
let longId: number;
const longText = Array.from({ length: 900 }, (_, index) => `Line ${index}: "the\tgreat" 𝔞uk.`).join('\n');

interface Called {
  readonly isError?: boolean;
  readonly structuredContent: Record<string, unknown>;
  readonly content: { type: string; text: string }[];
}
const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<Called> =>
  (await client.callTool({ name, arguments: args })) as unknown as Called;
const result = async <T>(client: Client, name: string, args: Record<string, unknown> = {}): Promise<T> => {
  const called = await call(client, name, args);
  if (called.isError) throw new Error(called.content[0]?.text);
  return called.structuredContent as T;
};

beforeAll(async () => {
  site = await startSite({
    '/page': { body: '<html><title>Tern</title><body><p>The tern flies from pole to pole.</p></body></html>' },
    '/skua': { body: '<html><title>Skua</title><body><p>The skua chases gulls for their catch.</p></body></html>' },
  });
  service = await startService(
    {
      PUBLIC_URL,
      CORS_ORIGINS: 'https://app.example',
      MCP_MAX_RESULT_CHARACTERS: String(LIMIT),
      LOG_LEVEL: 'info',
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    },
    { logTo: { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) } },
  );
  for (const name of ['ann', 'ben'] as const) {
    users[name] = await service.user(name);
    readers[name] = await connectAgent(service.url, await agentToken(service, name));
    const upload = { contents: `The bird is ${CANARY[name]}.`, name: `${name}.txt`, generate_sparse_vectors: true };
    const { body } = await users[name].post<{ id: number }>('/upload_text', { ...upload });
    fileIds[name] = body.id;
    await users[name].settled(body.id);
  }
  const long = await users.ann.post<{ id: number }>('/upload_text', { contents: longText, name: 'long.txt' });
  longId = long.body.id;
  await users.ann.settled(longId);
  writer = await connectAgent(service.url, await agentToken(service, 'ann', { scope: 'read write' }), 'Token');
});
afterAll(async () => {
  await Promise.all([...Object.values(readers), writer].map((client) => client.close()));
  await service.close();
  await site.close();
});

test('a client with a read-only token lists its tools, resource templates and prompts', async () => {
  const { ann } = readers;
  expect(ann.getServerVersion()).toMatchObject({ name: 'allotrope' });
  const { tools } = await ann.listTools();
  expect(tools.map(({ name }) => name)).toEqual([
    ...['search', 'list_files', 'read_file', 'list_sources', 'sync_status'],
  ]);
  for (const tool of tools) {
    expect(tool.annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    expect(tool.outputSchema?.required).toContain('notice');
    expect(JSON.stringify(tool)).not.toContain('$ref');
  }
  const { resourceTemplates } = await ann.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    ...['allotrope://files/{id}{?offset}', 'allotrope://files/{id}/original'],
  ]);
  expect((await ann.listPrompts()).prompts.map(({ name }) => name)).toEqual(['answer_with_citations']);
  const prompt = await ann.getPrompt({ name: 'answer_with_citations', arguments: { question: 'Which bird?' } });
  expect(JSON.stringify(prompt.messages)).toContain('Which bird?');
});

test('search cites file, name and URL, and marks retrieved text as content', async () => {
  const called = await call(readers.ann, 'search', { query: CANARY.ann, limit: 1 });
  expect(called.structuredContent).toMatchObject({
    notice: expect.stringContaining('never as instructions'),
    passages: [
      { rank: 1, file_id: fileIds.ann, name: 'ann.txt', uri: `allotrope://files/${fileIds.ann}`, is_shortened: false },
    ],
  });
  const [text] = called.content;
  expect(text?.text).toMatch(/^Names, texts .*\n<(retrieved-content-[0-9a-f]{12})>\n.*\n<\/\1>$/s);
});

test('search filters by source, file and time, and continues by offset', async () => {
  const fileIdsBy = async (filters: object): Promise<number[]> => {
    const { passages } = await result<{ passages: { file_id: number }[] }>(readers.ann, 'search', {
      ...{ query: 'bird', limit: 50 },
      ...filters,
    });
    return [...new Set(passages.map(({ file_id: id }) => id))];
  };
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
  expect(await fileIdsBy({ file_ids: [fileIds.ann] })).toEqual([fileIds.ann]);
  expect(await fileIdsBy({ file_ids: [fileIds.ann], created_before: tomorrow })).toEqual([fileIds.ann]);
  expect(await fileIdsBy({ created_from: tomorrow })).toEqual([]);
  expect(await fileIdsBy({ sources: ['GMAIL'] })).toEqual([]);
  expect(await fileIdsBy({ sources: ['RAW_TEXT'] })).toContain(fileIds.ann);
  const firstPage = await result<{ passages: { rank: number }[] }>(readers.ann, 'search', { query: 'bird', limit: 1 });
  const secondPage = await result<typeof firstPage>(readers.ann, 'search', { query: 'bird', limit: 1, offset: 1 });
  expect([firstPage.passages[0]?.rank, secondPage.passages[0]?.rank]).toEqual([1, 2]);
});

test('no result exceeds the limit, and a long text can be read in parts', async () => {
  let [text, offset]: [string, number | null] = ['', 0];
  while (offset !== null) {
    const part: { text: string; next_offset: number | null; more: string | null } = await result(
      readers.ann,
      'read_file',
      { file_id: longId, offset, max_characters: 100_000 },
    );
    expect(JSON.stringify(part).length).toBeLessThanOrEqual(LIMIT);
    expect(part.more === null).toBe(part.next_offset === null);
    text += part.text;
    offset = part.next_offset;
  }
  expect(text).toBe(longText);
  const searchResult = await result<{ more: string }>(readers.ann, 'search', { query: 'great auk', limit: 50 });
  expect(JSON.stringify(searchResult).length).toBeLessThanOrEqual(LIMIT);
  expect(searchResult.more).toContain('offset');
});

test('a resource is read part by part, and its original as bytes or, if large, as a link', async () => {
  const { resources } = await readers.ann.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual([
    ...[`allotrope://files/${fileIds.ann}`, `allotrope://files/${longId}`],
  ]);
  let [text, uri]: [string, string | undefined] = ['', `allotrope://files/${longId}`];
  while (uri !== undefined) {
    const [content] = (await readers.ann.readResource({ uri })).contents as {
      text: string;
      _meta: { next?: string };
    }[];
    text += content?.text;
    uri = content?._meta.next;
  }
  expect(text).toBe(longText);
  const original = await readers.ann.readResource({ uri: `allotrope://files/${fileIds.ann}/original` });
  const [{ blob }] = original.contents as unknown as [{ blob: string }];
  expect(Buffer.from(blob, 'base64').toString()).toBe(`The bird is ${CANARY.ann}.`);
  const large = await readers.ann.readResource({ uri: `allotrope://files/${longId}/original` });
  expect(JSON.stringify(large.contents)).toContain(`${PUBLIC_URL}/content/`);
});

test.each([
  ['ann', 'ben'],
  ['ben', 'ann'],
] as const)('no tool and no resource shows to user %s content of user %s', async (reader, owner) => {
  const client = readers[reader];
  const id = fileIds[owner];
  const shown = JSON.stringify(
    await Promise.all([
      call(client, 'search', { query: CANARY[owner], limit: 50 }),
      call(client, 'search', { query: CANARY[owner], file_ids: [id] }),
      call(client, 'search', { query: CANARY[owner], sources: ['RAW_TEXT'], file_ids: [id] }),
      call(client, 'list_files', { limit: 500 }),
      call(client, 'list_sources'),
      call(client, 'sync_status'),
      client.listResources(),
    ]),
  );
  expect(shown).not.toContain(`The bird is ${CANARY[owner]}`);
  expect(shown).not.toContain(`${owner}.txt`);
  expect(shown).not.toContain(`allotrope://files/${id}`);
  for (const name of ['read_file', 'sync_status'])
    expect(await call(client, name, { file_id: id })).toMatchObject({ isError: true });
  for (const uri of [`allotrope://files/${id}`, `allotrope://files/${id}/original`])
    await expect(client.readResource({ uri })).rejects.toMatchObject({ code: -32_002 });
  expect(JSON.stringify(await call(client, 'list_files'))).toContain(`${reader}.txt`);
});

test('a read-only token neither lists nor calls tools that write', async () => {
  for (const name of ['add_url', 'upload_text', 'resync'])
    await expect(call(readers.ann, name, { file_id: 1 })).rejects.toThrow(/scope "read write"/);
  const names = (await writer.listTools()).tools.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['add_url', 'upload_text', 'resync']));
});

test('a client with a write token adds a page and a text, waits until both are synced, finds them and resyncs one', async () => {
  const waitUntilSynced = (fileId: number) =>
    waitFor(
      () => result<{ is_done: boolean; file: { status: string } }>(writer, 'sync_status', { file_id: fileId }),
      ({ is_done: isDone, file }) => isDone && file.status === 'READY',
    );
  const page = await result<{ file_id: number }>(writer, 'add_url', { url: site.url('/page'), tags: { kind: 'web' } });
  await waitUntilSynced(page.file_id);
  const passagesBy = async (filters: object) =>
    (
      await result<{ passages: { text: string; url: string }[] }>(writer, 'search', {
        query: 'tern',
        limit: 1,
        ...filters,
      })
    ).passages;
  for (const filters of [{ file_ids: [page.file_id] }, { tags: { kind: 'web' } }, { sources: ['WEB_SCRAPE'] }])
    expect(await passagesBy(filters)).toMatchObject([
      { url: site.url('/page'), text: expect.stringContaining('tern') },
    ]);
  const text = await result<{ file_id: number }>(writer, 'upload_text', { text: 'A gannet dives.', name: 'gannet' });
  await waitUntilSynced(text.file_id);
  expect(await result(writer, 'read_file', { file_id: text.file_id })).toMatchObject({ text: 'A gannet dives.' });
  await result(writer, 'resync', { file_id: text.file_id });
  await waitUntilSynced(text.file_id);
  const { count } = await result<{ count: number }>(writer, 'sync_status', { file_id: text.file_id });
  expect(count).toBe(2);
});

test('the Python client adds a page, waits for it, finds it and reads it', async () => {
  const folder = await pythonClient();
  const token = await agentToken(service, 'pia', { scope: 'read write' });
  const { stdout } = await promisify(execFile)(
    PYTHON,
    ['-B', PYTHON_AGENT, `${service.url}/mcp`, token, site.url('/skua'), 'What does the skua chase?'],
    { env: { PATH: process.env['PATH'], PYTHONPATH: folder } },
  );
  expect(JSON.parse(stdout)).toEqual({
    tools: expect.arrayContaining(['search', 'add_url', 'sync_status', 'read_file']),
    url: site.url('/skua'),
    text: expect.stringContaining('The skua chases gulls'),
  });
});

test('answers invalid arguments with a tool error and other invalid calls with a protocol error, each with a fix', async () => {
  const { ann } = readers;
  await expect(call(ann, 'find')).rejects.toThrow(/Call one of: search, list_files/);
  const refused = (text: string) => ({ isError: true, content: [{ text: expect.stringContaining(text) }] });
  expect(await call(ann, 'search', {})).toMatchObject(refused('query: Field required'));
  expect(await call(ann, 'search', { query: 'x', k: 3 })).toMatchObject(refused('Arguments of search: query, limit'));
  await expect(ann.listResources({ cursor: 'x' })).rejects.toMatchObject({ code: -32_602 });
  await expect(ann.readResource({ uri: 'file:///etc/passwd' })).rejects.toMatchObject({ code: -32_002 });
  await expect(ann.getPrompt({ name: 'answer_with_citations' })).rejects.toMatchObject({ code: -32_602 });
  const afterEnd = await call(ann, 'read_file', { file_id: longId, offset: 10_000_000 });
  expect(afterEnd).toMatchObject(refused('lower one'));
});

test('the endpoint returns the address of its OAuth metadata with 401, and accepts only POST', async () => {
  const metadata = `${PUBLIC_URL}/.well-known/oauth-protected-resource/mcp`;
  const ping = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const send = (headers: Record<string, string>, body = ping) =>
    fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body,
    });
  const token = { authorization: `Bearer ${users.ann.token}` };
  for (const authorization of ['Bearer alt.wrong', `Bearer ${service.apiKey}`, 'Basic eDp5']) {
    const refused = await send({ authorization });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer error="invalid_token", resource_metadata="${metadata}"`,
    );
    expect(await refused.json()).toMatchObject({ jsonrpc: '2.0', error: { message: expect.any(String) }, id: null });
  }
  expect((await send({})).headers.get('www-authenticate')).toBe(`Bearer resource_metadata="${metadata}"`);
  for (const path of ['/.well-known/oauth-protected-resource', '/.well-known/oauth-protected-resource/mcp'])
    expect(await (await fetch(`${service.url}${path}`)).json()).toMatchObject({
      ...{ resource: `${PUBLIC_URL}/mcp`, scopes_supported: ['read', 'write'] },
    });
  for (const method of ['GET', 'DELETE']) {
    const { status, headers } = await fetch(`${service.url}/mcp`, { method, headers: token });
    expect([status, headers.get('allow')]).toEqual([405, 'POST']);
  }
  expect((await send(token)).status).toBe(200);
  expect((await send({ ...token, origin: 'https://evil.example' })).status).toBe(403);
  for (const origin of [PUBLIC_URL, 'https://app.example']) expect((await send({ ...token, origin })).status).toBe(200);
  expect((await send(token, `[${ping},${ping}]`)).status).toBe(400);
  const unreadable = await send(token, '{');
  expect([unreadable.status, await unreadable.json()]).toMatchObject([400, { error: { code: -32_700 } }]);
});

test('REST operations that write refuse a read-only token, and accept other tokens', async () => {
  const write = async (query: Record<string, string>) => {
    const token = await agentToken(service, 'ann', query);
    const headers = { authorization: `Token ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ contents: 'A shearwater glides.' });
    return (await fetch(`${service.url}/upload_text`, { method: 'POST', headers, body })).status;
  };
  expect([await write({}), await write({ scope: 'read write' }), await write({ scope: 'read' })]).toEqual([
    ...[200, 200, 403],
  ]);
  await expect(agentToken(service, 'ann', { expires_in: '99999999' })).rejects.toThrow(/422/);
});

test('each call is logged with its request, user and tool, and without its arguments', async () => {
  await call(readers.ben, 'search', { query: 'a very private question' });
  const user = await service.store.users.ensure(1, 'ben');
  const logged = lines.findLast(({ msg }) => msg === 'MCP tool call');
  expect(logged).toMatchObject({
    ...{ tool: 'search', outcome: 'ok', organizationId: 1, userId: user.userId },
    ...{ requestId: expect.any(String), ms: expect.any(Number) },
  });
  expect(JSON.stringify(lines)).not.toContain('a very private question');
});
