/** Tests of `scrape` and `search` and of the checks of the API: what they send, print and return. */
import { afterAll, beforeEach, expect, test } from '@jest/globals';

import { readCall } from '../../cli/command.js';
import { search } from '../../cli/commands/search.js';
import { apiChecks } from '../../cli/doctor/engines.js';
import { runCli } from '../../cli/run.js';
import { closeAll, type Loopback, serve } from '../egress/loopback.js';
import { everyRow } from '../support/everyRow.js';

const API_KEY = 'a-key-of-the-deployment';
let api: Loopback;
/** Responses by path: a body, or a status and a body. */
let answers: Record<string, unknown> = {};
beforeEach(async () => {
  answers = { '/list_users': { users: [{}], count: 1 } };
  api = await serve((request, response) => {
    const given = answers[request.url ?? ''] ?? {};
    const [status, body] = Array.isArray(given) && typeof given[0] === 'number' ? given : [200, given];
    response.writeHead(Number(status), { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
});
afterAll(closeAll);

const terminalOf = (lines: string[], errors: string[], stopped = new AbortController().signal) => ({
  ...{ env: { API_KEY }, isInteractive: false, stopped, waitForEnter: () => Promise.resolve() },
  out: (line: string) => void lines.push(line),
  err: (text: string) => void errors.push(text),
});

async function call(args: readonly string[], stopped?: AbortSignal) {
  const [lines, errors]: [string[], string[]] = [[], []];
  const code = await runCli([...args, '--url', `${api.origin}//`], terminalOf(lines, errors, stopped));
  const requests = api.requests.map(({ url, headers, body }) => ({
    ...{ url, customer: headers['customer-id'], authorization: headers['authorization'] },
    body: body === '' ? null : (JSON.parse(body) as unknown),
  }));
  return { code, lines, errors, requests };
}
const file = (sync_status: string, fields: object = {}) => ({
  ...{ id: 5, sync_status, sync_error_message: null, name: 'a', file_metadata: {} },
  ...fields,
});
const SCRAPE = ['scrape', 'https://a.example/', '--customer', 'ada'];

/** Options of `scrape`, and the request: its path and its body. */
const SCRAPES: [options: string[], path: string, body: unknown][] = [
  [[], '/web_scrape', [{ url: 'https://a.example/' }]],
  [
    ['--max-pages', '3', '--depth', '0', '--chunk-size', '9'],
    '/web_scrape',
    [{ url: 'https://a.example/', max_pages_to_scrape: 3, recursion_depth: 0, chunk_size: 9 }],
  ],
  [['--sitemap'], '/scrape_sitemap', { url: 'https://a.example/' }],
  [
    ['--sitemap', '--max-pages', '3', '--chunk-size', '9', '--depth', '1'],
    '/scrape_sitemap',
    { url: 'https://a.example/', max_pages_to_scrape: 3, chunk_size: 9 },
  ],
];

test('scrapes with the given options as the given user', () =>
  everyRow(
    SCRAPES,
    ([options]) => options.join(' '),
    async ([options, path, body]) => {
      api.requests.length = 0;
      answers['/web_scrape'] = [file('QUEUED_FOR_SYNC')];
      answers['/scrape_sitemap'] = file('QUEUED_FOR_SYNC');
      const { code, lines, requests } = await call([...SCRAPE, ...options, '--no-wait']);
      expect(requests).toEqual([{ url: path, customer: 'ada', authorization: `Bearer ${API_KEY}`, body }]);
      expect([code, lines[0]]).toEqual([0, 'file 5: QUEUED_FOR_SYNC']);
      expect(lines[1]).toContain('status --customer ada --watch');
    },
  ));

/** Final state of a scrape, the exit code, and what is printed. */
const ENDS: [state: object, code: number, line: string][] = [
  [file('READY'), 0, 'file 5: READY'],
  [file('SYNC_ERROR', { sync_error_message: 'Empty.' }), 1, 'file 5: SYNC_ERROR: Empty.'],
  [file('SYNC_ABORTED'), 1, 'file 5: SYNC_ABORTED'],
];

test('waits until a scrape has ended, and exits with 1 if it failed', () =>
  everyRow(
    ENDS,
    ([, , line]) => line,
    async ([state, code, line]) => {
      answers['/web_scrape'] = [file('QUEUED_FOR_SYNC')];
      answers['/user_files_v2'] = { results: [state], count: 1 };
      const ended = await call(SCRAPE);
      expect([ended.code, ended.lines]).toEqual([code, [line]]);
      expect(ended.requests[1]).toMatchObject({ customer: 'ada', body: { filters: { ids: [5] } } });
    },
  ));

test('ends the display of a scrape on Ctrl-C, and reports one that was rejected or deleted', async () => {
  answers['/user_files_v2'] = { results: [file('SYNCING')], count: 1 };
  answers['/web_scrape'] = [file('QUEUED_FOR_SYNC')];
  const stopped = await call(SCRAPE, AbortSignal.abort());
  expect([stopped.code, stopped.lines[0], stopped.lines.length]).toEqual([0, 'file 5: SYNCING', 2]);
  answers['/user_files_v2'] = { results: [], count: 0 };
  expect(await call(SCRAPE)).toMatchObject({ code: 1, errors: ['File 5 was deleted while it was scraped.\n'] });
  answers['/web_scrape'] = [];
  expect(await call(SCRAPE)).toMatchObject({ code: 1, errors: ['The API accepted no file. Check the URL.\n'] });
  answers['/web_scrape'] = [422, { detail: [{ loc: ['body', 'url'], msg: 'is invalid' }, { msg: 'x' }] }];
  const rejected = await call(SCRAPE);
  expect(rejected.errors[0]).toMatch(/^\/web_scrape failed with HTTP 422: body\.url: is invalid; : x\n$/);
});

test('searches as the given user with the given options', async () => {
  const hit = { rank: 1, score: 0.5, file_id: 7, chunk_index: 2, source_url: null, source: 'a.txt', content: 'b\n c' };
  answers['/embeddings'] = { documents: [hit] };
  const plain = await call(['search', 'tide', '--customer', 'ada']);
  expect(plain.requests[0]).toMatchObject({ url: '/list_users', body: { filters: { customer_ids: ['ada'] } } });
  expect(plain.requests[1]).toMatchObject({ url: '/embeddings', customer: 'ada', body: { query: 'tide', k: 5 } });
  expect(plain.requests[1]?.body).toEqual({ query: 'tide', k: 5 });
  expect(plain.lines).toEqual(['1. score 0.500 · file 7 · chunk 2 · a.txt', '   b c']);
  api.requests.length = 0;
  const options = ['--k', '9', '--file', '3', '--file', '4', '--model', 'SOLAR_1_MINI', '--hybrid', '--json'];
  const full = await call(['search', 'tide', '--customer', 'ada', ...options]);
  expect(full.requests[1]?.body).toEqual({
    ...{ query: 'tide', k: 9, file_ids: [3, 4], embedding_model: 'SOLAR_1_MINI', hybrid_search: true },
  });
  expect(JSON.parse(full.lines.join(''))).toEqual([hit]);
  answers['/embeddings'] = { documents: [] };
  expect((await call(['search', 'tide', '--customer', 'ada'])).lines[0]).toMatch(/^Nothing found/);
});

test('does not create a user by a search: an unknown user is an error', async () => {
  answers['/list_users'] = { users: [], count: 0 };
  const { code, errors, requests } = await call(['search', 'tide', '--customer', 'bob']);
  expect([code, requests.length]).toEqual([1, 1]);
  expect(errors[0]).toContain('There is no user bob.');
  expect((await call(['search', 'tide'])).errors[0]).toContain('--customer ID');
});

/** Invalid arguments of commands, and the reason. */
const INVALID: [args: string[], reason: string][] = [
  [['search', '--customer', 'ada'], 'QUERY is missing'],
  [['search', 'a', 'b'], 'too many arguments'],
  [[...SCRAPE, '--chunk-size', '1.5'], '--chunk-size requires an integer of at least 1'],
  [['search', 'a', '--customer', 'ada', '--file', 'x'], '--file requires the id of a file'],
  [[...SCRAPE, '--max-pages', '0'], '--max-pages requires an integer of at least 1'],
  [['key', 'revoke', 'x'], 'ID must be a number'],
  [['org', 'create', ' '], 'NAME is empty'],
  [['search', 'a', '--nonsense'], "Unknown option '--nonsense'"],
];

test('exits with 2 and the reason for invalid arguments, and sends nothing', () =>
  everyRow(
    INVALID,
    ([args]) => args.join(' '),
    async ([args, reason]) => {
      const errors: string[] = [];
      expect([await runCli(args, terminalOf([], errors)), errors[0]]).toEqual([2, expect.stringContaining(reason)]);
      expect(errors[0]).toContain(`npm run cli -- ${args[0]}`);
      expect(api.requests).toEqual([]);
    },
  ));

test('prints the help of a command even if its arguments are invalid', async () => {
  const lines: string[] = [];
  expect(await runCli(['key', 'revoke', '--help'], terminalOf(lines, []))).toBe(0);
  expect(lines[0]).toMatch(/^Usage: npm run cli -- key revoke ID \[OPTIONS\]\n[\s\S]*--last {2}/);
});

/** Responses of /health and /organization, and the states of the checks. */
const CHECKS: [health: unknown, organization: unknown, states: string[]][] = [
  [{ status: 'ok' }, {}, ['ok', 'ok']],
  [{ status: 'ok' }, [401, {}], ['ok', 'warn']],
  [{ hello: 'world' }, {}, ['bad']],
];

test('doctor checks that the API responds and accepts the key', () =>
  everyRow(CHECKS, JSON.stringify, async ([health, organization, states]) => {
    Object.assign(answers, { '/health': health, '/organization': organization });
    api.requests.length = 0;
    const checks = await apiChecks(readCall(search, ['x', '--url', api.origin], terminalOf([], [])));
    expect(checks.map(({ state }) => state)).toEqual(states);
    expect(api.requests.map(({ headers }) => headers['authorization'])).toContain(`Bearer ${API_KEY}`);
  }));

test('doctor reports an API that does not answer', async () => {
  const checks = await apiChecks(readCall(search, ['x', '--url', 'http://127.0.0.1:9'], terminalOf([], [])));
  expect(checks).toMatchObject([{ name: 'API', state: 'bad', found: expect.stringContaining('does not answer') }]);
});
