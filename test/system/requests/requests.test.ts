import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { apiClient } from '../../support/client.js';
import { startService, type TestService } from '../../support/service.js';
import type { TestUser } from '../../support/client.js';

interface Invalid {
  detail: { loc: (string | number)[]; msg: string; type: string }[];
}

let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService({}, { worker: false });
  user = await service.user('bob');
});
afterAll(() => service.close());

describe('access to operations', () => {
  const withoutCredentials = () => apiClient(service.url);
  const bearer = () => ({ authorization: `Bearer ${service.apiKey}` });

  test('the token operation returns an access token and a refresh token', async () => {
    const { status, body } = await withoutCredentials().get<Record<string, unknown>>('/auth/v1/access_token', {
      ...bearer(),
      'customer-id': 'carol',
    });
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['access_token', 'refresh_token']);
    for (const token of Object.values(body)) expect(String(token).length).toBeGreaterThan(20);
  });

  test('a token in place of the key is 401, as is a missing or wrong key, before any other validation', async () => {
    for (const headers of [
      { authorization: `Token ${user.token}`, 'customer-id': 'x' },
      {},
      { authorization: 'Bearer unknown' },
      { authorization: service.apiKey },
    ]) {
      expect((await withoutCredentials().get('/auth/v1/access_token', headers)).status).toBe(401);
    }
  });

  test('a key without customer-id is 422 naming the header', async () => {
    const { status, body } = await withoutCredentials().get<Invalid>('/auth/v1/access_token', bearer());
    expect(status).toBe(422);
    expect(body.detail).toEqual([{ loc: ['header', 'customer-id'], msg: 'Field required', type: 'missing' }]);
    expect((await withoutCredentials().post('/user_files_v2', {}, bearer())).status).toBe(422);
  });

  test('an operation that accepts tokens and keys accepts the schemes Token and Bearer in any case', async () => {
    for (const authorization of [`token ${user.token}`, `Token ${user.token}`, `TOKEN ${user.token}`]) {
      expect((await withoutCredentials().post('/user_files_v2', {}, { authorization })).status).toBe(200);
    }
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect(
        (
          await withoutCredentials().post(
            '/user_files_v2',
            {},
            { authorization: `${scheme} ${service.apiKey}`, 'customer-id': 'bob' },
          )
        ).status,
      ).toBe(200);
    }
  });

  test('the last of two credentials in one header counts', async () => {
    const status = async (authorization: string) =>
      (await withoutCredentials().post('/user_files_v2', {}, { authorization })).status;
    expect(await status(`Token expired, Token ${user.token}`)).toBe(200);
    expect(await status(`Token ${user.token}, Token expired`)).toBe(401);
    expect(await status(`Token ${user.token},`)).toBe(401);
  });

  test('a token on a key-only operation is 403', async () => {
    expect((await user.post('/webhooks', {})).status).toBe(403);
  });

  test('a caller without credentials gets 401 whatever else is wrong', async () => {
    const answer = await fetch(`${service.url}/scrape_sitemap`, {
      method: 'POST',
      body: '{',
      headers: { 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(401);
  });

  test('answers a wrong method with 405 and an unknown path with 404', async () => {
    expect((await user.get('/scrape_sitemap')).status).toBe(405);
    expect((await user.get('/nothing')).status).toBe(404);
  });

  test.each(['/whoami', '/whoami/', '/WhoAmI', '/whoami?x=1'])(
    '%s is a spelling of the path of /whoami',
    async (path) => {
      expect((await user.get(path)).body).toMatchObject({ organization_id: expect.any(Number) });
      expect((await user.post(path, {})).status).toBe(405);
    },
  );
});

describe('requests', () => {
  const url = 'https://example.com/sitemap.xml';
  test.each<[Record<string, unknown>, (string | number)[], string]>([
    [{}, ['body', 'url'], 'missing'],
    [{ url: 5 }, ['body', 'url'], 'string_type'],
    [{ url: 'ftp://example.com' }, ['body', 'url'], 'url_type'],
    [{ url, max_pages_to_scrape: 0 }, ['body', 'max_pages_to_scrape'], 'greater_than_equal'],
    [{ url, max_pages_to_scrape: 1.5 }, ['body', 'max_pages_to_scrape'], 'int_type'],
    [{ url, max_pages_to_scrape: '5' }, ['body', 'max_pages_to_scrape'], 'int_type'],
    [{ url, chunk_size: 0 }, ['body', 'chunk_size'], 'greater_than_equal'],
    [{ url, chunk_size: 2 ** 60 }, ['body', 'chunk_size'], 'int_type'],
    [{ url, chunk_size: 100, chunk_overlap: 100 }, ['body', 'chunk_overlap'], 'less_than_equal'],
    [{ url, chunk_overlap: -1 }, ['body', 'chunk_overlap'], 'greater_than_equal'],
    [{ url, embedding_model: 'openai' }, ['body', 'embedding_model'], 'enum'],
    [{ url, skip_embedding_generation: 'yes' }, ['body', 'skip_embedding_generation'], 'bool_type'],
    [{ url, url_paths_to_include: Array(11).fill('/a') }, ['body', 'url_paths_to_include'], 'too_long'],
    [{ url, url_paths_to_exclude: Array(11).fill('/a') }, ['body', 'url_paths_to_exclude'], 'too_long'],
    [{ url, urls_to_scrape: [1] }, ['body', 'urls_to_scrape', 0], 'string_type'],
    [{ url, html_tags_to_skip: Array(101).fill('p') }, ['body', 'html_tags_to_skip'], 'too_long'],
    [{ url, css_classes_to_skip: ['a', 'x'.repeat(501)] }, ['body', 'css_classes_to_skip', 1], 'string_too_long'],
    [{ url, css_selectors_to_skip: Array(101).fill('p') }, ['body', 'css_selectors_to_skip'], 'too_long'],
    [{ url, css_selectors_to_skip: ['x'.repeat(501)] }, ['body', 'css_selectors_to_skip', 0], 'string_too_long'],
    [{ url, css_selectors_to_skip: ['.ad', '#top > p', 'p['] }, ['body', 'css_selectors_to_skip', 2], 'value_error'],
    [{ url, css_selectors_to_skip: ['p::before', '.ad'] }, ['body', 'css_selectors_to_skip', 0], 'value_error'],
    [{ url, css_selectors_to_skip: ['', 'a:unacknowledged-of'] }, ['body', 'css_selectors_to_skip', 1], 'value_error'],
    [{ url, css_selectors_to_skip: [null] }, ['body', 'css_selectors_to_skip', 0], 'string_type'],
    [{ url, tags: [] }, ['body', 'tags'], 'dict_type'],
    [{ url, tags: { $where: 'x' } }, ['body', 'tags', '$where'], 'value_error'],
    [{ url, tags: { a: { b: 1 } } }, ['body', 'tags', 'a'], 'value_error'],
  ])('with an invalid field are answered with 422, its path and an error type: %j', async (body, loc, type) => {
    const answer = await user.post<Invalid>('/scrape_sitemap', body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]).toMatchObject({ loc, type });
  });

  test('with invalid CSS selectors are answered with one error for each invalid selector', async () => {
    const answer = await user.post<Invalid>('/scrape_sitemap', { url, css_selectors_to_skip: ['p[', '.ad', ':is(p'] });
    expect(answer.body.detail).toEqual([
      { loc: ['body', 'css_selectors_to_skip', 0], msg: expect.stringContaining('CSS selector'), type: 'value_error' },
      { loc: ['body', 'css_selectors_to_skip', 2], msg: expect.stringContaining('CSS selector'), type: 'value_error' },
    ]);
  });

  test('may have CSS selectors of every supported kind, and blank ones', async () => {
    const selectors = [
      '.ad',
      'main > p:not(.lead)',
      '[role="note" i]',
      'li:nth-child(2n + 1)',
      'div:has(> img), nav',
      ' ',
      '',
    ];
    expect((await user.post('/scrape_sitemap', { url, css_selectors_to_skip: selectors })).status).toBe(200);
  });

  test('may have up to ten include paths, and unknown fields', async () => {
    const body = { url, url_paths_to_include: Array(10).fill('/a'), recursion_depth: 3, css_selectros_to_skip: [] };
    expect((await user.post('/scrape_sitemap', body)).status).toBe(200);
  });

  test('are answered in the same way with a version in a header or parameter', async () => {
    const post = async (path: string, headers: Record<string, string>) => {
      const answer = await fetch(`${service.url}${path}`, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json', authorization: `Token ${user.token}`, ...headers },
      });
      return { status: answer.status, body: Object.keys((await answer.json()) as object) };
    };
    const plain = await post('/user_files_v2', {});
    expect(plain.status).toBe(200);
    for (const version of ['2020-01-01', 'v99', '1'])
      expect(
        await post(`/user_files_v2?version=${version}&api_version=${version}`, {
          version,
          'api-version': version,
          'carbon-version': version,
          'accept-version': version,
        }),
      ).toEqual(plain);
  });

  test('may have 50.0 as an integer', async () => {
    const answer = await fetch(`${service.url}/scrape_sitemap`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Token ${user.token}` },
      body: `{"url": "${url}", "chunk_size": 50.0}`,
    });
    expect(answer.status).toBe(200);
  });

  test('are answered with 422 if the body is malformed JSON or a form, and with 413 if it is huge', async () => {
    const send = (body: string, type: string) =>
      fetch(`${service.url}/scrape_sitemap`, {
        method: 'POST',
        body,
        headers: { 'content-type': type, authorization: `Token ${user.token}` },
      });
    const malformed = await send('{"url": ', 'application/json');
    expect(malformed.status).toBe(422);
    expect(((await malformed.json()) as Invalid).detail[0]).toMatchObject({ loc: ['body'], type: 'json_invalid' });
    expect((await send('url=x', 'application/x-www-form-urlencoded')).status).toBe(422);
    expect((await send(`{"url": "${'x'.repeat(6_000_000)}"}`, 'application/json')).status).toBe(413);
    expect((await send(`${'['.repeat(20_000)}${']'.repeat(20_000)}`, 'application/json')).status).toBe(422);
  });

  test('with __proto__ in tags do not change the prototype of objects', async () => {
    const answer = await fetch(`${service.url}/scrape_sitemap`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Token ${user.token}` },
      body: `{"url": "${url}", "tags": {"__proto__": {"polluted": true}}}`,
    });
    expect([200, 422]).toContain(answer.status);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  test.each<[Record<string, unknown>, (string | number)[]]>([
    [{ pagination: { limit: 0 } }, ['body', 'pagination', 'limit']],
    [{ pagination: { limit: 10_001 } }, ['body', 'pagination', 'limit']],
    [{ pagination: { offset: -1 } }, ['body', 'pagination', 'offset']],
    [{ order_by: 'size' }, ['body', 'order_by']],
    [{ order_dir: 'ASC' }, ['body', 'order_dir']],
    [{ filters: { sync_statuses: ['ready'] } }, ['body', 'filters', 'sync_statuses', 0]],
    [{ filters: { ids: ['1'] } }, ['body', 'filters', 'ids', 0]],
    [{ filters: { root_files_only: true, parent_file_ids: [1] } }, ['body', 'filters']],
    [{ filters: { tags_v2: { AND: [], OR: [] } } }, ['body', 'filters', 'tags_v2']],
  ])('for a list with an invalid field are answered with 422 and its path: %j', async (body, loc) => {
    const answer = await user.post<Invalid>('/user_files_v2', body);
    expect(answer.status).toBe(422);
    expect(answer.body.detail[0]?.loc).toEqual(loc);
  });

  test('for a list of chunks require filters', async () => {
    const answer = await user.post<Invalid>('/list_chunks_and_embeddings', {});
    expect(answer.status).toBe(422);
    expect(answer.body.detail).toEqual([expect.objectContaining({ loc: ['body', 'filters'], type: 'missing' })]);
  });

  test('may have null filters, which existing front ends for the API of Carbon send', async () => {
    const body = {
      filters: { root_files_only: false, parent_file_ids: [1], tags: null, source: null },
      pagination: { limit: 20 },
    };
    expect((await user.post('/user_files_v2', body)).status).toBe(200);
  });

  test.each([{ query: 'x' }, { k: 1 }, { query: '', k: 1 }, { query: 'x', k: 0 }])(
    'for a search with a missing or invalid field are answered with 422: %j',
    async (body) => {
      expect((await user.post('/embeddings', body)).status).toBe(422);
    },
  );
});

test('reports /health as ok, and in /ready names the missing worker', async () => {
  expect(await apiClient(service.url).get('/health')).toMatchObject({ status: 200, body: { status: 'ok' } });
  const { status, body } = await apiClient(service.url).get<{ status: string; reasons: string[] }>('/ready');
  expect({ status, readiness: body.status }).toEqual({ status: 200, readiness: 'degraded' });
  expect(body.reasons).toEqual([expect.stringContaining('npm run worker')]);
});

describe('browser access', () => {
  test('answers a preflight with 200 and the headers that clients send', async () => {
    const answer = await fetch(`${service.url}/whoami`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'GET',
        'access-control-request-headers': 'authorization',
      },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-headers')).toContain('authorization');
  });

  test('forbids type sniffing and frames in every answer, and caching in answers of operations', async () => {
    const answers = await Promise.all(
      ['/health', '/openapi.json', '/no/such/path', '/docs/', '/docs/scalar.js', '/user', '/ops'].map((path) =>
        fetch(`${service.url}${path}`),
      ),
    );
    const token = await fetch(`${service.url}/auth/v1/access_token`, {
      headers: { authorization: `Bearer ${service.apiKey}`, 'customer-id': 'carol' },
    });
    const list = await fetch(`${service.url}/user_files_v2`, {
      method: 'POST',
      headers: { authorization: `Token ${user.token}`, 'content-type': 'application/json' },
      body: '{}',
    });
    expect(token.status).toBe(200);
    for (const { headers, url } of [...answers, token, list]) {
      expect([url, headers.get('x-content-type-options')]).toEqual([url, 'nosniff']);
      expect([url, headers.get('x-frame-options')]).toEqual([url, 'DENY']);
    }
    for (const { headers } of [token, list]) expect(headers.get('cache-control')).toBe('no-store');
  });
});
