import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';

import { EXTENSIONS } from '../../api/extensions.js';
import { type AuthScheme } from '../../api/http/operation.js';
import { builtOperations } from '../../api/routes.js';
import { type Site, startSampleSite } from '../emulators/site.js';
import type { TestUser } from '../support/client.js';
import { allowsNull, answerFault, bodyOf, fieldsOf, ours, type Schema, sample, theirs } from '../support/contract.js';
import { bent, valuesOf } from '../support/schemaArbitrary.js';
import { seededChance } from '../support/seed.js';
import { startService, type TestService } from '../support/service.js';

/** Requests of each operation, as its schema has them and bent; enough to meet what a change has broken. */
const RUNS = 40;
/** Operations of which a part is not built yet: asked for it, they answer 501. */
const PARTLY_BUILT = ['/embeddings'];

let service: TestService;
let site: Site;
let user: TestUser;
let credentials: Record<AuthScheme, Record<string, string>>;
/** Texts that mean something here: they lead a request past the first check. */
const strings: string[] = ['WEB_SCRAPE', 'READY', 'a', '$a', 'a.b', 'pages', 'zoe', '1'];

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
  site = await startSampleSite(2, 1);
  user = await service.user('zoe');
  const url = site.url('/sitemap.xml');
  await user.settled((await user.scrape({ url, tags: { a: ['b', 'c'], n: 1 } })).id);
  // What the fuzz run asks for is accepted, but nobody works on it.
  await service.stopWorker();
  strings.push(url, site.url('/pages/0.html'));
  const key = { authorization: `Bearer ${service.apiKey}` };
  credentials = {
    user: { authorization: `Token ${user.token}` },
    key,
    issuing: { ...key, 'customer-id': 'zoe' },
    open: {},
  };
}, 60_000);
afterAll(async () => {
  await service.close();
  await site.close();
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
  const answer = await fetch(`${service.url}${address}?${new URLSearchParams(query).toString()}`, {
    method: method.toUpperCase(),
    headers: { ...credentials[auth], ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as { detail?: unknown } };
}

/** What an answer does that neither document allows; null when nothing. */
function violation(
  { method, path }: Sent,
  { status, body }: { status: number; body: { detail?: unknown } },
): string | null {
  if (status === 501 && PARTLY_BUILT.includes(path)) return null;
  if (!Object.keys(ours.paths[path]?.[method]?.responses ?? {}).includes(String(status)))
    return `status ${status} is not described: ${JSON.stringify(body)}`;
  const faults = (['ours', 'theirs'] as const).flatMap((name) => {
    const fault = answerFault(name, { method, path, status }, body);
    return fault === null ? [] : [`${name}: ${fault}`];
  });
  return faults.length === 0 ? null : `${status} ${faults.join(' | ')}`;
}

const built = builtOperations.map((one) => [one.method, one.path, one.auth] as const);
const taking = built.filter(([method, path]) => bodyOf(theirs, method, path)?.properties !== undefined);

describe('null sent to each field is taken where the contract allows it, else refused by its path', () => {
  const extensions = Object.keys(EXTENSIONS.fields);
  test.each(taking)('%s %s', async (method, path, auth) => {
    const schema = bodyOf(theirs, method, path) ?? {};
    const least = sample(theirs, schema) as Record<string, unknown>;
    const nullable = (field: { path: string; schema: Schema }) =>
      allowsNull(theirs, field.schema) || extensions.includes(`${path.slice(1)}.${field.path} null`);
    for (const field of fieldsOf(theirs, schema).filter((one) => !one.path.includes('[]'))) {
      const keys = field.path.split('.');
      const body = structuredClone(least);
      let holder = body;
      for (const key of keys.slice(0, -1)) holder = (holder[key] ??= {}) as Record<string, unknown>;
      holder[keys.at(-1) ?? ''] = null;
      const answer = await send({ method, path, auth, body });
      const refused = JSON.stringify(answer.body.detail ?? '').includes(JSON.stringify(['body', ...keys]));
      expect({ field: field.path, refused, status: answer.status }).toEqual({
        field: field.path,
        refused: !nullable(field),
        status: nullable(field) ? expect.any(Number) : 422,
      });
      expect(answer.status).toBeLessThan(500);
    }
  });
});

describe('whatever is sent, no answer is a fault of ours, and each is as both documents describe it', () => {
  const chance = seededChance('contractCalls');
  test.each(built)('%s %s', async (method, path, auth) => {
    const parameters = ours.paths[path]?.[method]?.parameters ?? [];
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
    const schema = bodyOf(ours, method, path);
    const values = schema ? valuesOf(ours, schema, strings) : fc.constant(undefined);
    const requests = fc.record({
      body: schema ? fc.oneof(values, bent(values)) : values,
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
        // Shrinking asks the server again and again.
        plugins: [fc.interruptAfterTimeLimit(30_000)],
      },
    );
  });
});

test('an answer that is not as it is described would be seen', () => {
  const list = { method: 'post', path: '/user_files_v2', auth: 'user' } as const;
  expect(violation(list, { status: 200, body: { results: [], count: 0 } as object })).toBeNull();
  expect(violation(list, { status: 200, body: { results: [{}], count: 0 } as object })).toMatch(/ours.*theirs/);
  expect(violation(list, { status: 500, body: { detail: 'x' } })).toMatch(/not described/);
  expect(violation(list, { status: 422, body: { detail: 'x' } })).toMatch(/ours.*theirs/);
  expect(violation(list, { status: 404, body: {} })).toMatch(/ours/);
});
