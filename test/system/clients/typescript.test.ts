import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { deliveryIds, needlesslyLong, numbered, operationIds, plainName } from '../../support/clients/operations.js';
import { type ClientService, startClientService } from '../../support/clients/service.js';
import {
  checkTypes,
  clientPackages,
  generateHeyApi,
  generateTypes,
  runTypeScript,
} from '../../support/clients/typescript.js';
import { thoroughly } from '../../support/thorough.js';

let service: ClientService;
/** The lines at the start of every generated program: the service's address and the token. */
let settings: string;

beforeAll(async () => {
  service = await startClientService();
  const { folder, url, token } = service;
  await symlink(path.join(await clientPackages(), 'node_modules'), path.join(folder, 'node_modules'));
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  settings = `const baseUrl = '${url}';\nconst headers = { authorization: 'Token ${token}' };\n`;
});
afterAll(() => service.close());

/** Compiles a program and runs it. @returns what it prints, as JSON */
async function compileAndRun(name: string, program: string): Promise<unknown> {
  const file = path.join(service.folder, name, 'program.ts');
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, program);
  await checkTypes(path.join(service.folder, name), [file]);
  return JSON.parse(await runTypeScript(file));
}

/** A program that compiles only if no body or response of the most used operations is `any`, `unknown` or empty. */
const USABLE = `
type Usable<T> = unknown extends T ? false : [T] extends [never] ? false : [T] extends [Record<string, never>] ? false : true;
const usable: {
  token: Usable<Answer<'/auth/v1/access_token', 'get'>['access_token']>;
  text: Usable<Body<'/upload_text'>> & Usable<Answer<'/upload_text'>>;
  url: Usable<Body<'/upload_file_from_url'>>;
  scrape: Usable<Body<'/scrape_sitemap'>> & Usable<Body<'/web_scrape'>[number]>;
  filters: Usable<NonNullable<Body<'/user_files_v2'>['filters']>>;
  file: Usable<Answer<'/user_files_v2'>['results'][number]>;
  tags: Usable<NonNullable<Answer<'/user_files_v2'>['results'][number]['tags']>[string]>;
  search: Usable<Body<'/embeddings'>> & Usable<Answer<'/embeddings'>['documents'][number]>;
  chunk: Usable<Answer<'/list_chunks_and_embeddings'>['results'][number]>;
  removal: Usable<Body<'/delete_files_v2'>>;
  consent: Usable<Body<'/integrations/oauth_url'>> & Usable<Answer<'/integrations/oauth_url'>>;
  items: Usable<Body<'/integrations/items/list'>> & Usable<Answer<'/integrations/items/list'>['items'][number]>;
  selection: Usable<Body<'/integrations/files/sync'>['ids'][number]>;
  sources: Usable<Answer<'/user_data_sources'>['results'][number]>;
  me: Usable<Answer<'/whoami', 'get'>['aggregate_file_size'][string]>;
  events: Usable<Answer<'/events', 'get'>['results'][number]['obj']['additional_information']>;
  runs: Usable<Answer<'/sync_runs/{sync_run_id}', 'get'>['details'][string]>;
  retry: Usable<NonNullable<RetryBody>['outcomes']>;
} = {
  token: true, text: true, url: true, scrape: true, filters: true, file: true, tags: true, search: true, chunk: true,
  removal: true, consent: true, items: true, selection: true, sources: true, me: true, events: true, runs: true,
  retry: true,
};
`;

describe('openapi-typescript', () => {
  test('generates types of every operation; a program that uses them compiles and calls the service', async () => {
    const types = path.join(service.folder, 'types', 'schema.ts');
    await generateTypes(service.document, types);
    const text = await readFile(types, 'utf8');
    const [, operations = ''] = /export interface operations \{([\s\S]*)/.exec(text) ?? [];
    const generatedOperations = [...operations.matchAll(/^ {4}(\w+): \{$/gm)].map(([, name]) => name);
    expect(new Set(generatedOperations)).toEqual(new Set([...operationIds(), ...deliveryIds()]));
    expect(text).not.toMatch(/unknown & |& unknown|never &|& never|\bany\b(?=[;[\])])/);
    const found = await compileAndRun(
      'types',
      `import createClient from 'openapi-fetch';
import type { paths } from './schema';
${settings}
type Json<T> = T extends { content: { 'application/json': infer J } } ? J : never;
type Operation<P extends keyof paths, M extends 'get' | 'post'> = NonNullable<paths[P][M]>;
type Answer<P extends keyof paths, M extends 'get' | 'post' = 'post'> =
  Operation<P, M> extends { responses: { 200: infer R } } ? Exclude<Json<R>, { dry_run: true }> : never;
type Body<P extends keyof paths> = Operation<P, 'post'> extends { requestBody?: infer B } ? Json<NonNullable<B>> : never;
type RetryBody = Body<'/sync_runs/{sync_run_id}/retry'>;
${USABLE}
const client = createClient<paths>({ baseUrl, headers });
const { data, error } = await client.POST('/user_files_v2', { body: { filters: { name: 'harbour' } } });
if (!data) throw new Error(JSON.stringify(error.detail));
const [file] = data.results;
const town: string | number | boolean | readonly (string | number | boolean)[] | undefined = file?.tags?.['town'];
console.log(JSON.stringify({ count: data.count, name: file?.name, town, checked: Object.keys(usable).length }));
`,
    );
    expect(found).toEqual({ count: 1, name: expect.stringContaining('harbour'), town: 'Anholt', checked: 18 });
  });
});

describe('@hey-api/openapi-ts', () => {
  // Runs only in `npm run test:long`: the test above checks the same document, and this one takes as long.
  thoroughly(
    'generates a function for every operation; a program that uses them compiles and calls the service',
    async () => {
      const client = path.join(service.folder, 'hey', 'client');
      await generateHeyApi(service.document, client);
      const namesIn = async (file: string, pattern: RegExp): Promise<string[]> =>
        [...(await readFile(path.join(client, file), 'utf8')).matchAll(pattern)].map(([, name = '']) => name);
      const functions = await namesIn('sdk.gen.ts', /^export const (\w+)/gm);
      expect(functions.map(plainName).toSorted()).toEqual(operationIds().map(plainName).toSorted());
      const types = await namesIn('types.gen.ts', /^export type (\w+)/gm);
      expect(needlesslyLong([...functions, ...types])).toEqual([]);
      // Generators append numbers to equal names. Only these two names of the public contract end with one.
      expect(numbered(types, ['EmbeddingsAndChunksQueryInputV2', 'UserFilesV2'])).toEqual([]);
      const found = await compileAndRun(
        'hey',
        `import { client } from './client/client.gen';
import { userFilesV2UserFilesV2Post } from './client/sdk.gen';
${settings}
client.setConfig({ baseUrl, headers });
const { data, error } = await userFilesV2UserFilesV2Post({ body: { filters: { name: 'harbour' } } });
if (!data) throw new Error(JSON.stringify(error));
const name: string | null | undefined = data.results[0]?.name;
console.log(JSON.stringify({ count: data.count, name }));
`,
      );
      expect(found).toEqual({ count: 1, name: expect.stringContaining('harbour') });
    },
  );
});
