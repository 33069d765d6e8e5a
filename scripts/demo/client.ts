/** A client of the public API. */
import { detailOf } from '../../cli/api.js';
import type { DocumentRecord } from '../../contract/files/records.js';

export interface Client {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: unknown): Promise<T>;
}

function clientOf(url: string, headers: Record<string, string>): Client {
  const call = async <T>(path: string, init: RequestInit): Promise<T> => {
    const response = await fetch(`${url}${path}`, init);
    const body: unknown = await response.json();
    if (!response.ok) throw new Error(`${path} failed with HTTP ${response.status}: ${detailOf(body)}`);
    return body as T;
  };
  return {
    get: (path) => call(path, { headers }),
    post: (path, body) =>
      call(path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
  };
}

/** Returns a client that acts for an end user with an access token. */
export async function signIn({ url, apiKey }: { readonly url: string; readonly apiKey: string }): Promise<Client> {
  const headers = { authorization: `Bearer ${apiKey}`, 'customer-id': 'demo' };
  const issued = await clientOf(url, headers).get<{ access_token: string }>('/auth/v1/access_token');
  return clientOf(url, { authorization: `Token ${issued.access_token}` });
}

/** Counts ready and failed files. @param filters filters of /user_files_v2 */
export async function countFiles(api: Client, filters: object): Promise<{ ready: number; failed: number }> {
  const counted = async (sync_statuses: string[]): Promise<number> =>
    (
      await api.post<{ count: number }>('/user_files_v2', {
        filters: { ...filters, sync_statuses },
        pagination: { limit: 1 },
      })
    ).count;
  const [ready, failed] = await Promise.all([counted(['READY']), counted(['SYNC_ERROR', 'SYNC_ABORTED'])]);
  return { ready, failed };
}

/** Searches for a question and formats the results as text. */
export async function searchAsText(api: Client, query: string, where: object = {}): Promise<string> {
  const { documents } = await api.post<{ documents: DocumentRecord[] }>('/embeddings', { query, k: 3, ...where });
  const lines = documents.flatMap(({ rank, score, source_url, chunk_index, content }) => [
    `  ${rank}. score ${score?.toFixed(3)} · ${source_url} · chunk ${chunk_index}`,
    `     ${content.replaceAll(/\s+/g, ' ').slice(0, 160)}${content.length > 160 ? '…' : ''}`,
  ]);
  return [`\n  “${query}”\n`, ...lines, ''].join('\n');
}

/** A demo: its settings and its steps. */
export interface Demo {
  /** Settings of the service for this demo. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs all steps as an application would. */
  run(api: Client): Promise<void>;
  close(): Promise<void>;
}
