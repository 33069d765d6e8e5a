/** Tests of the answers to invalid requests of a real service: each has a status, the cause and a remedy. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { type Site, startSampleSite } from '../emulators/site.js';
import { type TestUser } from '../support/client.js';
import { everyRow } from '../support/everyRow.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

let service: SharedService;
let site: Site;
let user: TestUser;
beforeAll(async () => {
  site = await startSampleSite(1, 1);
  service = await sharedService({ worker: false });
  user = await service.user('una');
});
afterAll(async () => {
  await service.close();
  await site.close();
});

interface Mistake {
  readonly name: string;
  readonly status: number;
  /** Expected text in the message of the answer. */
  readonly message: string | RegExp;
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  /** A function, because tokens and keys are known only when the service runs. */
  readonly headers?: () => Record<string, string>;
}
type Rest = Pick<Mistake, 'headers'>;

const post = (
  name: string,
  path: string,
  body: unknown,
  status: number,
  message: Mistake['message'],
  rest: Rest = {},
) => ({
  ...{ name, method: 'POST', path, body, status, message },
  ...rest,
});
const get = (name: string, path: string, status: number, message: Mistake['message'], rest: Rest = {}) => ({
  ...{ name, method: 'GET', path, status, message },
  ...rest,
});
const as = (authorization: () => string, headers: Record<string, string> = {}): Rest => ({
  headers: () => ({ authorization: authorization(), ...headers }),
});
const key = as(() => `Bearer ${service.apiKey}`);
const strict: Rest = { headers: () => ({ prefer: 'handling=strict' }) };

const SITEMAP = { url: 'https://example.com/sitemap.xml' };
const wrongField = (field: string, value: unknown, message: Mistake['message']) =>
  post(
    `scrape_sitemap ${field}=${JSON.stringify(value)}`,
    '/scrape_sitemap',
    { ...SITEMAP, [field]: value },
    422,
    message,
  );
const search = (field: string, value: unknown, message: Mistake['message']) =>
  post(
    `search ${field}=${JSON.stringify(value)}`,
    '/embeddings',
    { query: 'otters', k: 1, [field]: value },
    422,
    message,
  );
const unknownField = (path: string, body: unknown, message: Mistake['message']) =>
  post(`${path} with an unknown field: ${JSON.stringify(body)}`, path, body, 422, message, strict);

const CREDENTIALS: readonly Mistake[] = [
  get('no credentials', '/whoami', 401, /Authorization: Token/, { headers: () => ({ authorization: '' }) }),
  get(
    'another scheme',
    '/whoami',
    401,
    /Authorization: Token/,
    as(() => 'Basic dW5hOnB3'),
  ),
  get(
    'a scheme alone',
    '/whoami',
    401,
    /Authorization: Bearer/,
    as(() => 'Bearer'),
  ),
  get(
    'an unknown key',
    '/whoami',
    401,
    'absent, unknown or expired',
    as(() => 'Bearer alk_unknown'),
  ),
  get(
    'a token as Bearer',
    '/whoami',
    401,
    'Send `Authorization: Token <access token>`',
    as(() => `Bearer ${user.token}`),
  ),
  get(
    'a wrong token as Bearer',
    '/whoami',
    401,
    'Send `Authorization: Token <access token>`',
    as(() => 'Bearer alt.x'),
  ),
  get(
    'a key as Token',
    '/whoami',
    401,
    'Authorization: Bearer <API key>',
    as(() => `Token ${service.apiKey}`),
  ),
  get(
    'an unknown key as Token',
    '/whoami',
    401,
    'Authorization: Bearer <API key>',
    as(() => 'Token alk_unknown'),
  ),
  get(
    'a changed token',
    '/whoami',
    401,
    'unknown or expired',
    as(() => `Token ${user.token}x`),
  ),
  get('a key without customer-id', '/whoami', 422, /customer-id.*Field required/, key),
  get(
    'a blank customer-id',
    '/whoami',
    422,
    'customer-id',
    as(() => `Bearer ${service.apiKey}`, { 'customer-id': ' ' }),
  ),
  get(
    'a long customer-id',
    '/whoami',
    422,
    'At most 512',
    as(() => `Bearer ${service.apiKey}`, { 'customer-id': 'x'.repeat(513) }),
  ),
  post('a token where a key is needed', '/webhooks', {}, 403, 'takes an API key'),
];

const ROUTES: readonly Mistake[] = [
  get('an unknown path', '/no/such/path', 404, 'No such path'),
  get('a wrong method', '/scrape_sitemap', 405, 'supports only POST'),
  { ...post('a body that is not JSON', '/embeddings', null, 422, /JSON/), body: '{"query": ' },
  post('a list for an object', '/embeddings', [], 422, 'Must be an object'),
  post('an object for a list', '/web_scrape', {}, 422, 'Must be a list'),
  post('a text for an object', '/user_files_v2', { pagination: 'x' }, 422, 'Must be an object'),
  get('a word as an id', '/raw_file/x', 422, 'file_id'),
  get('an id of another user', '/raw_file/99999999', 404, 'No such file'),
];

const VALUES: readonly Mistake[] = [
  post('no url', '/scrape_sitemap', {}, 422, /url.*Field required/),
  wrongField('url', '', 'Must not be empty'),
  wrongField('url', 5, 'Must be a string'),
  wrongField('url', `https://example.com/${'x'.repeat(9_000)}`, 'Must have at most 8192 characters'),
  wrongField('url', 'http://169.254.169.254/', 'This service may not call this address'),
  wrongField('chunk_size', 0, 'Must be greater than or equal to 1'),
  wrongField('chunk_size', '100', 'Must be a number'),
  wrongField('chunk_size', 1.5, 'Must be an integer'),
  wrongField('chunk_size', 1e300, 'Must be between -9007199254740991 and 9007199254740991'),
  wrongField('chunk_overlap', -1, 'Must be greater than or equal to 0'),
  wrongField('chunk_overlap', 1_500, 'Must be less than chunk_size'),
  wrongField('skip_embedding_generation', 'yes', 'Must be true or false'),
  wrongField('embedding_model', 'BEST', 'Must be one of OPENAI'),
  wrongField('tags', 'x', 'Must be an object'),
  wrongField('tags', { $where: 1 }, 'This tag key is reserved'),
  wrongField('tags', { a: { b: 1 } }, 'Must be a string, number, boolean or a list'),
  wrongField('max_pages_to_scrape', 0, 'Must be greater than or equal to 1'),
  wrongField('max_tokens', -1, 'Must be greater than or equal to 0'),
  wrongField('dry_run', 1, 'Must be true or false'),
  wrongField('urls_to_scrape', 'x', 'Must be a list'),
  search('k', 0, 'Must be greater than or equal to 1'),
  search('k', 'x', 'Must be a number'),
  search('query', '', 'Must not be empty'),
  search('query', null, 'Must be a string'),
  search('file_ids', 'x', 'Must be a list'),
  search('file_ids', ['x'], 'Must be a number'),
  search('include_tags', 'x', 'Must be true or false'),
  search('query_vector', ['x'], 'Must be a number'),
  search('tags_v2', {}, 'Give one of AND, OR'),
  search('tags_v2', { AND: [], OR: [] }, 'Give exactly one of AND, OR'),
  post('no query', '/embeddings', { k: 1 }, 422, /query.*Field required/),
  post('a page of no rows', '/user_files_v2', { pagination: { limit: 0 } }, 422, 'Must be greater than or equal to 1'),
  post(
    'a negative offset',
    '/user_files_v2',
    { pagination: { offset: -1 } },
    422,
    'Must be greater than or equal to 0',
  ),
  post('an unknown order', '/user_files_v2', { order_by: 'size' }, 422, /Must be one of .*created_at/),
  post('an unknown direction', '/user_files_v2', { order_dir: 'up' }, 422, 'Must be one of desc, asc'),
  post('no text', '/upload_text', {}, 422, /contents.*Field required/),
  post(
    'an overlap of an upload',
    '/upload_text',
    { contents: 'Otters juggle pebbles.', chunk_size: 5, chunk_overlap: 5 },
    422,
    'Must be less than chunk_size',
  ),
  post('a list of ids as text', '/delete_files_v2', { filters: { ids: 'x' } }, 422, 'Must be a list'),
  post('no filter of a deletion', '/delete_files_v2', {}, 400, 'at least one filter'),
  post('an unknown service', '/integrations/oauth_url', { service: 'MYSPACE' }, 422, /Must be one of .*GOOGLE_DRIVE/),
  post(
    'credentials of another service',
    '/integrations/oauth_url',
    { service: 'GOOGLE_DRIVE', servicenow_credentials: 'x' },
    422,
    'Must be an object',
  ),
  post(
    'an unused option',
    '/integrations/oauth_url',
    { service: 'GOOGLE_DRIVE', zendesk_subdomain: 5 },
    422,
    'Must be a string',
  ),
  post('no service', '/integrations/oauth_url', {}, 422, /service.*Field required/),
  post('no address of a webhook', '/add_webhook', {}, 422, /url.*Field required/, key),
  get(
    'a wrong video',
    '/fetch_youtube_transcript?id=https://youtu.be/dQw4w9WgXcQ',
    422,
    'the 11 characters after v= in its address',
  ),
  get('no video', '/fetch_youtube_transcript', 422, /id.*Field required/),
  get('a word for a flag', '/fetch_youtube_transcript?id=dQw4w9WgXcQ&raw=maybe', 422, 'Must be true or false'),
  get('no words to search', '/search_urls?query=', 422, 'Must not be empty'),
  get('a wrong cursor of runs', '/sync_runs/1/items?after=x', 422, /after/),
];

const UNKNOWN: readonly Mistake[] = [
  unknownField('/scrape_sitemap', { ...SITEMAP, max_pages: 2 }, 'Did you mean max_pages_to_scrape?'),
  unknownField('/embeddings', { query: 'x', k: 1, fileIds: [1] }, 'Did you mean file_ids?'),
  unknownField('/upload_text', { contents: 'Otters juggle pebbles.', chunksize: 5 }, 'Did you mean chunk_size?'),
  unknownField('/user_files_v2', { filters: { soucre: 'WEB_SCRAPE' } }, 'Did you mean source?'),
  unknownField('/user_files_v2', { pagination: { limits: 1 } }, 'Did you mean limit?'),
  unknownField('/web_scrape', [{ ...SITEMAP, depth: 2 }], /Did you mean recursion_depth\?/),
  get('an unknown parameter', '/fetch_youtube_transcript?id=dQw4w9WgXcQ&rwa=true', 422, 'Did you mean raw?', strict),
  get('a parameter where there are none', '/whoami?verbose=1', 422, 'Unknown parameter. Remove it', strict),
];

const MISTAKES = [...CREDENTIALS, ...ROUTES, ...VALUES, ...UNKNOWN];

/** Texts that must not occur in an answer: wording and internals of libraries, and placeholders. */
const LEAKS = /ref:|fails to match|pattern|must be a safe|is not allowed to be|Joi|Mongo|at Object|undefined|\[object/;

async function answerTo({ method, path, body, headers }: Mistake) {
  const answer = await fetch(`${service.url}${path}`, {
    method,
    headers: {
      authorization: `Token ${user.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers?.(),
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const { detail } = (await answer.json()) as { detail: unknown };
  return { status: answer.status, detail };
}

test('the table has at least 60 mistakes with different names', () => {
  expect(new Set(MISTAKES.map(({ name }) => name)).size).toBe(MISTAKES.length);
  expect(MISTAKES.length).toBeGreaterThanOrEqual(60);
});

test('answers each mistake with its status, its cause and a remedy', () =>
  everyRow(
    MISTAKES,
    ({ name }) => name,
    async (mistake) => {
      const { status, detail } = await answerTo(mistake);
      const text = JSON.stringify(detail).replaceAll(String.raw`\"`, '"');
      expect({ status, text }).toEqual({
        status: mistake.status,
        text:
          typeof mistake.message === 'string'
            ? expect.stringContaining(mistake.message)
            : expect.stringMatching(mistake.message),
      });
      expect(text).not.toMatch(LEAKS);
      if (status !== 422) return expect(detail).toEqual(expect.any(String));
      expect(detail).toEqual(
        expect.arrayContaining([
          { loc: expect.any(Array), msg: expect.stringMatching(/^[A-Z]/), type: expect.any(String) },
        ]),
      );
    },
  ));

test('a known and an unknown API key get the same answer if they are sent as an access token', async () => {
  const [knownKey, unknownKey] = ['a key as Token', 'an unknown key as Token'].map((name) =>
    CREDENTIALS.find((mistake) => mistake.name === name)!,
  );
  expect(await answerTo(knownKey!)).toEqual(await answerTo(unknownKey!));
});

test('the message for a missing sitemap does not advise removing its address from a sitemap', async () => {
  const { detail } = await answerTo(
    get('', `/process_sitemap?url=${encodeURIComponent(site.url('/none.xml'))}`, 404, ''),
  );
  const text = JSON.stringify(detail);
  expect(text).toMatch(/robots\.txt.*\/web_scrape/);
  expect(text).not.toMatch(/remove its/i);
});

test('without Prefer: handling=strict, a header names unknown fields, and they cause no error', async () => {
  const { status, headers } = await user.post('/user_files_v2', { filters: { soucre: 'x' }, more: 1 });
  expect([status, headers.get('allotrope-ignored-fields'), headers.get('preference-applied')]).toEqual([
    ...[200, '"body.filters.soucre", "body.more"', null],
  ]);
  const answer = await user.post('/user_files_v2', {}, { prefer: 'handling=strict' });
  expect([answer.status, answer.headers.get('preference-applied')]).toEqual([200, 'handling=strict']);
});

test('options in the form of an upload are reported in a header; in strict mode the upload is refused and not stored', async () => {
  const send = (headers: Record<string, string> = {}) => {
    const form = new FormData();
    form.set('chunk_size', '100');
    form.set('file', new Blob(['The ferry sails at seven.']), 'ferry.txt');
    const authorization = `Token ${user.token}`;
    return fetch(`${service.url}/uploadfile?colour=red`, {
      method: 'POST',
      body: form,
      headers: { authorization, ...headers },
    });
  };
  const count = async () => (await user.post<{ count: number }>('/user_files_v2', {})).body.count;
  const countBefore = await count();
  const lenient = await send();
  expect([lenient.status, lenient.headers.get('allotrope-ignored-fields')]).toEqual([
    ...[200, '"query.colour", "body.chunk_size"'],
  ]);
  expect((await send({ prefer: 'handling=strict' })).status).toBe(422);
  expect(await count()).toBe(countBefore + 1);
});
