import { setTimeout as sleep } from 'node:timers/promises';

import type { ChunkRecord, DocumentRecord, FileRecord } from '../../contract/files/records.js';
import { recordCall } from './recordedCalls.js';
import { TIME_LIMIT_MS, waitFor } from './waitFor.js';

export interface Answer<T> {
  readonly status: number;
  readonly body: T;
  readonly headers: Headers;
}

/** A client of the public API. */
export interface ApiClient {
  /** Base address of the service. */
  readonly baseUrl: string;
  get<T = unknown>(path: string, headers?: Record<string, string>): Promise<Answer<T>>;
  delete<T = unknown>(path: string, headers?: Record<string, string>): Promise<Answer<T>>;
  post<T = unknown>(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer<T>>;
  /** Uploads a file as a form; options are query parameters. */
  upload(
    file: NamedFile,
    query?: Record<string, unknown>,
    headers?: Record<string, string>,
  ): Promise<Answer<FileRecord>>;
}

/** A file as a browser sends it. */
export interface NamedFile {
  readonly name: string;
  readonly content: string | Uint8Array | Blob;
  /** Media type that the browser declares. Unset: none. */
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

/** Repeats a call that fails or is answered with 5xx, as clients do, for up to `timeLimitMs`. */
async function callWithRetries(call: () => Promise<Response>, timeLimitMs: number): Promise<Response> {
  const deadline = Date.now() + timeLimitMs;
  for (;;) {
    try {
      const response = await call();
      if (response.status < 500 || Date.now() >= deadline) return response;
    } catch (error) {
      if (Date.now() >= deadline) throw error;
    }
    await sleep(PAUSE_MS);
  }
}

/**
 * @param defaultHeaders headers of every request @param timeLimitMs how long a failing call is repeated; 0: not at all
 */
export function apiClient(baseUrl: string, defaultHeaders: Record<string, string> = {}, timeLimitMs = 0): ApiClient {
  const call = async <T>(
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Answer<T>> => {
    const response = await callWithRetries(async () => {
      const answer = await fetch(`${baseUrl}${path}`, {
        method,
        headers: {
          ...defaultHeaders,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      // Read the whole body here, so that an incomplete response is repeated too.
      return new Response(await answer.arrayBuffer(), answer);
    }, timeLimitMs);
    const answer = (await response.json()) as T;
    if (response.ok) recordCall({ method, path, body, response: answer, baseUrl });
    return { status: response.status, body: answer, headers: response.headers };
  };
  return {
    baseUrl,
    async upload(file, query = {}, headers = {}) {
      const response = await callWithRetries(
        () =>
          fetch(`${baseUrl}/uploadfile?${queryOf(query)}`, {
            method: 'POST',
            headers: { ...defaultHeaders, ...headers },
            body: formOf(file),
          }),
        timeLimitMs,
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

/** Returns the JSON of a response. Closes an event stream, which has no JSON and would not end, and returns {}. */
export async function jsonOf(response: Response): Promise<unknown> {
  if (!(response.headers.get('content-type') ?? '').startsWith('text/event-stream')) return response.json();
  await response.body?.cancel();
  return {};
}

export interface Listed<T> {
  readonly results: T[];
  readonly count: number;
}

/** A client for an end user of an organization, with methods for the most common calls. */
export interface TestUser extends ApiClient {
  readonly token: string;
  /** Starts a scrape. @throws if it is not accepted */
  scrape(body: Record<string, unknown>): Promise<FileRecord>;
  /** Uploads a file. @throws if it is not accepted */
  send(file: NamedFile, query?: Record<string, unknown>): Promise<FileRecord>;
  file(id: number): Promise<FileRecord>;
  children(parentId: number): Promise<FileRecord[]>;
  chunks(filters: Record<string, unknown>, more?: Record<string, unknown>): Promise<Listed<ChunkRecord>>;
  search(body: Record<string, unknown>): Promise<DocumentRecord[]>;
  /** Waits until a file reaches a final status, and returns it. */
  settled(id: number, timeoutMs?: number): Promise<FileRecord>;
}

const FINAL = ['READY', 'SYNC_ERROR', 'SYNC_ABORTED', 'READY_TO_SYNC'];

function ok<T>(answer: Answer<T>): T {
  if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

const isFinal = ({ sync_status }: FileRecord): boolean => FINAL.includes(sync_status);

/**
 * Requests an access token for a customer id and returns a client for that user.
 * @param hasStatus returns whether the stored file still has the status of `file`, the last response. While it returns
 *   true, `settled` sends no new request, which saves a tenth of a suite's processor time.
 */
export async function testUser(
  baseUrl: string,
  apiKey: string,
  customerId: string,
  timeLimitMs = 0,
  hasStatus: (file: FileRecord) => Promise<boolean> = async () => false,
): Promise<TestUser> {
  const issued = ok(
    await apiClient(baseUrl, {}, timeLimitMs).get<{ access_token: string }>('/auth/v1/access_token', {
      authorization: `Bearer ${apiKey}`,
      'customer-id': customerId,
    }),
  );
  const client = apiClient(baseUrl, { authorization: `Token ${issued.access_token}` }, timeLimitMs);
  const allResults = { limit: 10_000 };
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
          pagination: allResults,
          order_by: 'name',
        }),
      ).results,
    chunks: async (filters, more = {}) =>
      ok(
        await client.post<Listed<ChunkRecord>>('/list_chunks_and_embeddings', {
          filters,
          pagination: allResults,
          order_by: 'name',
          ...more,
        }),
      ),
    search: async (body) => ok(await client.post<{ documents: DocumentRecord[] }>('/embeddings', body)).documents,
    settled(id, timeoutMs = TIME_LIMIT_MS) {
      let lastRecord: FileRecord | null = null;
      const poll = async (): Promise<FileRecord> => {
        if (lastRecord === null || !(await hasStatus(lastRecord))) lastRecord = await user.file(id);
        return lastRecord;
      };
      return waitFor(poll, isFinal, timeoutMs);
    },
  };
  return user;
}
