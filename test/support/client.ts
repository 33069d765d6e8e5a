import { setTimeout as sleep } from 'node:timers/promises';

import type { ChunkRecord, DocumentRecord, FileRecord } from '../../contract/records.js';
import { recordCall } from './recordedCalls.js';
import { PATIENCE_MS, soon } from './soon.js';

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

/** Calls the public API as any client would. */
export interface ApiClient {
  /** Where the service is. */
  readonly baseUrl: string;
  get<T = unknown>(path: string, headers?: Record<string, string>): Promise<Answer<T>>;
  delete<T = unknown>(path: string, headers?: Record<string, string>): Promise<Answer<T>>;
  post<T = unknown>(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer<T>>;
  /** Sends a file in a form; what is asked for stands in the query. */
  upload(
    file: NamedFile,
    query?: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Answer<FileRecord>>;
}

/** A file as a browser would send it. */
export interface NamedFile {
  readonly name: string;
  readonly content: string | Uint8Array | Blob;
  /** As the browser declares it; unset: nothing. */
  readonly type?: string;
}

function formOf({ name, content, type = '' }: NamedFile): FormData {
  const form = new FormData();
  const blob = content instanceof Blob ? content : new Blob([content as string | Uint8Array<ArrayBuffer>], { type });
  form.set('file', blob, name);
  return form;
}

const queryOf = (query: Record<string, unknown>): string =>
  new URLSearchParams(Object.entries(query).map(([name, value]): [string, string] => [name, String(value)])).toString();

const PAUSE_MS = 100;

/** A call that is not answered, or with 5xx, is made again, as clients do; until the patience is over. */
async function insist(call: () => Promise<Response>, patienceMs: number): Promise<Response> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      const response = await call();
      if (response.status < 500 || Date.now() > deadline) return response;
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

/** @param patienceMs how long a call is repeated that is not answered */
export function apiClient(baseUrl: string, standing: Record<string, string> = {}, patienceMs = 0): ApiClient {
  const call = async <T>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer<T>> => {
    const response = await insist(async () => {
      const answer = await fetch(`${baseUrl}${path}`, {
        method,
        headers: { ...standing, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // An answer of which only a part came is none.
      return new Response(await answer.arrayBuffer(), answer);
    }, patienceMs);
    const answer = (await response.json()) as T;
    if (response.ok) recordCall({ method, path, body, response: answer, baseUrl });
    return { status: response.status, body: answer, headers: response.headers };
  };
  return {
    baseUrl,
    async upload(file, query = {}, headers = {}) {
      const response = await insist(
        () =>
          fetch(`${baseUrl}/uploadfile?${queryOf(query)}`, {
            method: 'POST',
            headers: { ...standing, ...headers },
            body: formOf(file),
          }),
        patienceMs,
      );
      const record = (await response.json()) as FileRecord;
      if (response.ok) recordCall({ method: 'POST', path: `/uploadfile?${queryOf(query)}`, response: record, baseUrl });
      return { status: response.status, body: record, headers: response.headers };
    },
    get: (path, headers = {}) => call('GET', path, undefined, headers),
    delete: (path, headers = {}) => call('DELETE', path, undefined, headers),
    post: (path, body, headers = {}) => call('POST', path, body, headers),
  };
}

export interface Listed<T> {
  readonly results: T[];
  readonly count: number;
}

/** An end user of an organization, with the calls that tests make most. */
export interface TestUser extends ApiClient {
  readonly token: string;
  /** Starts a scrape; fails the test unless it is accepted. */
  scrape(body: Record<string, unknown>): Promise<FileRecord>;
  /** Uploads a file; fails the test unless it is accepted. */
  send(file: NamedFile, query?: Record<string, unknown>): Promise<FileRecord>;
  file(id: number): Promise<FileRecord>;
  children(parentId: number): Promise<FileRecord[]>;
  chunks(filters: Record<string, unknown>, more?: Record<string, unknown>): Promise<Listed<ChunkRecord>>;
  search(body: Record<string, unknown>): Promise<DocumentRecord[]>;
  /** Waits until a file is at rest and answers it. */
  settled(id: number, timeoutMs?: number): Promise<FileRecord>;
}

const FINAL = ['READY', 'SYNC_ERROR', 'SYNC_ABORTED', 'READY_TO_SYNC'];

function ok<T>(answer: Answer<T>): T {
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** Takes an access token for a customer id, as a front-end would. */
export async function testUser(baseUrl: string, apiKey: string, customerId: string, patienceMs = 0): Promise<TestUser> {
  const issued = ok(
    await apiClient(baseUrl, {}, patienceMs).get<{ access_token: string }>('/auth/v1/access_token', {
      authorization: `Bearer ${apiKey}`,
      'customer-id': customerId,
    }),
  );
  const client = apiClient(baseUrl, { authorization: `Token ${issued.access_token}` }, patienceMs);
  const all = { limit: 10_000 };
  const user: TestUser = {
    ...client,
    token: issued.access_token,
    scrape: async (body) => ok(await client.post<FileRecord>('/scrape_sitemap', body)),
    send: async (file, query) => ok(await client.upload(file, query)),
    async file(id) {
      const { results } = ok(await client.post<Listed<FileRecord>>('/user_files_v2', { filters: { ids: [id] } }));
      const [file] = results;
      if (!file) throw new Error(`no file ${id}`);
      return file;
    },
    children: async (parentId) =>
      ok(
        await client.post<Listed<FileRecord>>('/user_files_v2', {
          filters: { parent_file_ids: [parentId] },
          pagination: all,
          order_by: 'name',
        }),
      ).results,
    chunks: async (filters, more = {}) =>
      ok(
        await client.post<Listed<ChunkRecord>>('/list_chunks_and_embeddings', {
          filters,
          pagination: all,
          order_by: 'name',
          ...more,
        }),
      ),
    search: async (body) => ok(await client.post<{ documents: DocumentRecord[] }>('/embeddings', body)).documents,
    settled: (id, timeoutMs = PATIENCE_MS) =>
      soon(
        () => user.file(id),
        (file) => FINAL.includes(file.sync_status),
        timeoutMs,
      ),
  };
  return user;
}
