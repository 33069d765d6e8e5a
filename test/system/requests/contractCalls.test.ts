import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { EXTENSIONS } from '../../../api/extensions.js';
import { type AuthScheme } from '../../../api/http/operation.js';
import { operations } from '../../../api/routes.js';
import { type GitBookEmulator, startGitBook } from '../../emulators/gitbook.js';
import { type GitHubEmulator, startGitHub } from '../../emulators/github.js';
import { type S3SourceEmulator, startS3Source } from '../../emulators/s3Source.js';
import { type Site, startSampleSite } from '../../emulators/site.js';
import { jsonOf, type TestUser } from '../../support/client.js';
import {
  allowsNull,
  answerFault,
  bodyOf,
  keysOf,
  ourDocument,
  shapesOf,
  publishedDocument,
  withValue,
} from '../../support/contract.js';
import { everyRow } from '../../support/everyRow.js';
import { valuesOf, withJunk } from '../../support/schemaArbitrary.js';
import { seededRandom } from '../../support/seed.js';
import { startService, type TestService } from '../../support/service.js';
import { SOURCE_FIXTURES } from '../../support/sourceFixtures/index.js';
import type { SourceFixture } from '../../support/sourceFixtures/fixture.js';
import { isThorough } from '../../support/thorough.js';

/** Random requests per operation, valid and mutated ones. */
const RUNS = isThorough() ? 30 : 3;

/** Sources whose emulators this suite starts itself. */
const OWN: ReadonlySet<string> = new Set(['GITBOOK', 'GITHUB', 'S3']);

let service: TestService;
let site: Site;
let gitbook: GitBookEmulator;
let github: GitHubEmulator;
let s3: S3SourceEmulator;
/** Fixtures of all other sources, so that no request leaves this machine. */
let others: SourceFixture[];
let user: TestUser;
let credentials: Record<AuthScheme, Record<string, string>>;
/**
 * Values for random strings in requests: values of enums, names and characters with a meaning in queries. Some fields
 * accept them, so that a request passes the validation of its schema and reaches the handler.
 */
const strings: string[] = ['WEB_SCRAPE', 'READY', 'a', '$a', 'a.b', 'pages', 'zoe', '1'];

beforeAll(async () => {
  gitbook = await startGitBook();
  github = await startGitHub();
  s3 = await startS3Source();
  others = await Promise.all(
    Object.entries(SOURCE_FIXTURES).flatMap(([source, start]) => (OWN.has(source) ? [] : [start()])),
  );
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    SOURCE_URLS: [gitbook, github, s3, ...others].map(({ settings }) => settings).join(','),
  });
  site = await startSampleSite(2, 1);
  user = await service.user('zoe');
  const url = site.url('/sitemap.xml');
  await user.settled((await user.scrape({ url, tags: { a: ['b', 'c'], n: 1 } })).id);
  // Requests of the fuzz run are accepted, but no worker runs them.
  await service.stopWorker();
  strings.push(url, site.url('/pages/0.html'));
  const key = { authorization: `Bearer ${service.apiKey}` };
  const token = { authorization: `Token ${user.token}` };
  credentials = {
    user: token,
    reader: token,
    key,
    operator: key,
    either: key,
    issuing: { ...key, 'customer-id': 'zoe' },
    open: {},
  };
});
afterAll(async () => {
  await service.close();
  await Promise.all([site.close(), gitbook.close(), github.close(), s3.close(), ...others.map((one) => one.close())]);
});

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly auth: AuthScheme;
  readonly body?: unknown;
  readonly query?: Record<string, string>;
  readonly params?: Record<string, string>;
}

async function send({ method, path, auth, body, query = {}, params = {} }: Sent) {
  const address = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? '0'));
  const url = `${service.url}${address}?${new URLSearchParams(query).toString()}`;
  const request = {
    method: method.toUpperCase(),
    headers: { ...credentials[auth], ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
  // The server may close a kept-alive connection just as it is used: the request is sent again on another connection.
  const answer = await fetch(url, request).catch(() => fetch(url, request));
  return { status: answer.status, body: (await jsonOf(answer)) as { detail?: unknown } };
}

/**
 * Describes how an answer violates our OpenAPI document (`ours`) or the published one of Carbon, whose API this service
 * implements (`theirs`). Returns null if it violates neither.
 */
function violation(
  { method, path }: Sent,
  { status, body }: { status: number; body: { detail?: unknown } },
): string | null {
  if (!Object.keys(ourDocument.paths[path]?.[method]?.responses ?? {}).includes(String(status)))
    return `status ${status} is not described: ${JSON.stringify(body)}`;
  const faults = (['ours', 'theirs'] as const).flatMap((name) => {
    const fault = answerFault(name, { method, path, status }, body);
    return fault === null ? [] : [`${name}: ${fault}`];
  });
  return faults.length === 0 ? null : `${status} ${faults.join(' | ')}`;
}

const implemented = operations.map((one) => [one.method, one.path, one.auth] as const);
const withBody = implemented.flatMap(([method, path, auth]) => {
  const schema = bodyOf(publishedDocument, method, path);
  const shapes = schema ? shapesOf(publishedDocument, schema).filter(({ fields }) => fields.length > 0) : [];
  return shapes.map((shape, index) => [method, path, index, auth, shape] as const);
});

test('the check of null covers every operation with a body, also if it is a list or has alternatives', () => {
  const walked = (wanted: string) => withBody.filter(([, path]) => path === wanted).length;
  expect([walked('/web_scrape'), walked('/white_label/create'), walked('/white_label/update')]).toEqual([1, 3, 3]);
  expect(new Set(withBody.map(([method, path]) => `${method} ${path}`))).toEqual(
    new Set(
      implemented
        .filter(([method, path]) => bodyOf(publishedDocument, method, path))
        .map(([method, path]) => `${method} ${path}`),
    ),
  );
});

test('answers null in each nullable field without a server error', () => {
  // Null in a field that is not nullable: requestContract.test.ts checks, without requests, that validation refuses it.
  const nullable = withBody.flatMap(([method, path, , auth, { body, fields }]) =>
    fields
      .filter(
        (field) =>
          allowsNull(publishedDocument, field.schema) || `${path.slice(1)}.${field.path} null` in EXTENSIONS.fields,
      )
      .map((field) => ({ method, path, auth, field: field.path, body: withValue(body, field.path, null) })),
  );
  return everyRow(
    nullable,
    ({ method, path, field }) => `${method} ${path} ${field}`,
    async ({ field, ...sent }) => {
      const answer = await send(sent);
      expect(answer.status).toBeLessThan(500);
      expect(JSON.stringify(answer.body.detail ?? '')).not.toContain(JSON.stringify(['body', ...keysOf(field)]));
    },
  );
});

test('answers every random request as both documents describe, without a server error', () => {
  const chance = seededRandom('contractCalls');
  const check = async ([method, path, auth]: (typeof implemented)[number]): Promise<void> => {
    const parameters = ourDocument.paths[path]?.[method]?.parameters ?? [];
    const texts = (where: 'path' | 'query') =>
      fc.record(
        Object.fromEntries(
          parameters
            .filter((one) => one.in === where)
            .map(({ name }) => [
              name,
              fc.oneof(fc.constantFrom(...strings), fc.nat().map(String), fc.string({ unit: 'binary', minLength: 1 })),
            ]),
        ),
        where === 'path' ? {} : { requiredKeys: [] },
      ) as fc.Arbitrary<Record<string, string>>;
    const schema = bodyOf(ourDocument, method, path);
    const values = schema ? valuesOf(ourDocument, schema, strings) : fc.constant(undefined);
    const requests = fc.record({
      body: schema ? fc.oneof(values, withJunk(values)) : values,
      query: texts('query'),
      params: texts('path'),
    });
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const sent = { method, path, auth, ...request };
        const fault = violation(sent, await send(sent));
        if (fault !== null) throw new Error(fault);
      }),
      {
        numRuns: schema || parameters.length > 0 ? RUNS : 1,
        seed: chance.below(2 ** 31),
        // Shrinking repeats requests many times.
        plugins: [fc.interruptAfterTimeLimit(30_000)],
      },
    );
  };
  return everyRow(implemented, ([method, path]) => `${method} ${path}`, check);
}, 3_600_000);

test('the check detects an answer that contradicts its description', () => {
  const list = { method: 'post', path: '/user_files_v2', auth: 'user' } as const;
  expect(violation(list, { status: 200, body: { results: [], count: 0 } as object })).toBeNull();
  expect(violation(list, { status: 200, body: { results: [{}], count: 0 } as object })).toMatch(/ours.*theirs/);
  expect(violation(list, { status: 500, body: { detail: 'x' } })).toMatch(/not described/);
  expect(violation(list, { status: 422, body: { detail: 'x' } })).toMatch(/ours.*theirs/);
  expect(violation(list, { status: 404, body: {} })).toMatch(/ours/);
});
