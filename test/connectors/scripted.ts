/** A client of an account with scripted answers, for tests of answers that the emulators do not give. */
import type { AccountClient } from '../../connectors/accountClient.js';
import { createSourceCache } from '../../connectors/sourceCache.js';
import { NEVER } from './account.js';

export interface ScriptedRequest {
  /** Segments of the path, joined by slashes. */
  readonly path: string;
  /** The query of a GET, or the body of a POST. */
  readonly query: Readonly<Record<string, unknown>>;
}

/** Returns a client and its requests. The client returns the result of `answer`; a result that is an Error is thrown. */
export function scriptedClient<Credentials>(
  credentials: Credentials,
  answer: (request: ScriptedRequest) => unknown,
  cache = createSourceCache(),
) {
  const requests: ScriptedRequest[] = [];
  const ask = async (path: readonly string[], query: unknown) => {
    const request = { path: path.join('/'), query: (query ?? {}) as ScriptedRequest['query'] };
    requests.push(request);
    const answered = answer(request);
    if (answered instanceof Error) throw answered;
    return answered as Readonly<Record<string, unknown>>;
  };
  const unused = () => Promise.reject(new Error('not scripted'));
  const client: AccountClient<Credentials> = {
    ...{ signal: NEVER, urls: { api: 'https://a.example', files: 'https://a.example' }, credentials, cache },
    ...{ get: ask, post: ask, content: unused, send: unused },
    list: async (path, query) => {
      const { values, headers = {} } = (await ask(path, query)) as {
        readonly values: readonly unknown[];
        readonly headers?: Readonly<Record<string, string>>;
      };
      return { values, headers };
    },
  };
  return { client, requests };
}

/** Reads a change feed to its end. Returns its pages. */
export async function readFeedPages<Page extends { readonly next: string; readonly more?: boolean }>(
  since: (token: string) => Promise<Page>,
  token: string,
): Promise<readonly Page[]> {
  const pages: Page[] = [];
  for (let at = token; ;) {
    const page = await since(at);
    pages.push(page);
    if (page.more !== true) return pages;
    if (pages.length > 100) throw new Error('the feed does not end');
    at = page.next;
  }
}
