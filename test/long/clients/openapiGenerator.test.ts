import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { run } from '../../../engines/run.js';
import { generateClient } from '../../support/clients/openapiGenerator.js';
import { needlesslyLong, operationIds, plainName } from '../../support/clients/operations.js';
import { runPython } from '../../support/clients/python.js';
import { type ClientService, startClientService } from '../../support/clients/service.js';
import { checkTypes, clientPackages, runTypeScript } from '../../support/clients/typescript.js';
import { orNeeds } from '../../support/java.js';

const FOUND = { count: 1, name: expect.stringContaining('harbour') };
const NEEDS_GO = 'The generated Go client is compiled: install Go 1.23 or newer, then run this test again.';

let service: ClientService;
beforeAll(async () => {
  service = await startClientService();
});
afterAll(() => service.close());

/** Returns the first group of each match in the files of a folder. */
async function namesIn(folder: string, pattern: RegExp): Promise<string[]> {
  const files = (await readdir(folder, { withFileTypes: true })).filter((file) => file.isFile());
  const texts = await Promise.all(files.map(({ name }) => readFile(path.join(folder, name), 'utf8')));
  return texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name));
}
/** Expects a function for every operation, and no needlessly long names. */
function expectComplete(functions: readonly string[], classes: readonly string[]): void {
  expect(functions.map(plainName).toSorted()).toEqual(operationIds().map(plainName).toSorted());
  expect(classes.length).toBeGreaterThan(250);
  expect(needlesslyLong([...functions, ...classes])).toEqual([]);
}

test('the client in Python has every operation, compiles and calls the service', async () => {
  const client = path.join(service.folder, 'python');
  await generateClient('python', service.document, client);
  const code = path.join(client, 'openapi_client');
  expectComplete(
    await namesIn(
      path.join(code, 'api'),
      /^ {4}def (?!__init__|_|\w+_(?:with_http_info|without_preload_content)\()(\w+)\($/gm,
    ),
    await namesIn(path.join(code, 'models'), /^class (\w+)\(/gm),
  );
  await runPython(client, ['-m', 'compileall', '-q', 'openapi_client']);
  const program = `
import json
import openapi_client as made
client = made.ApiClient(made.Configuration(host="${service.url}"), "authorization", "Token ${service.token}")
page = made.FilesApi(client).user_files_v2_user_files_v2_post(
    organization_user_files_to_sync_query_input=made.OrganizationUserFilesToSyncQueryInput(
        filters=made.OrganizationUserFilesToSyncFilters(name="harbour")
    )
)
print(json.dumps({"count": page.count, "name": page.results[0].name}))
`;
  expect(JSON.parse(await runPython(client, ['-c', program]))).toEqual(FOUND);
}, 3_600_000);

test('the client in TypeScript has every operation, compiles and calls the service', async () => {
  const { folder, document, url, token } = service;
  const client = path.join(folder, 'typescript');
  await generateClient('typescript-fetch', document, client);
  expectComplete(
    await namesIn(path.join(client, 'apis'), /^ {4}async (?!\w+(?:Raw|RequestOpts)\()(\w+)\(/gm),
    await namesIn(path.join(client, 'models'), /^export (?:interface|type) (\w+)/gm),
  );
  await symlink(path.join(await clientPackages(), 'node_modules'), path.join(folder, 'node_modules'));
  const file = path.join(client, 'program.ts');
  await writeFile(path.join(client, 'package.json'), '{ "type": "module" }');
  await writeFile(
    file,
    `import { Configuration, FilesApi } from './index';
const files = new FilesApi(new Configuration({ basePath: '${url}', headers: { authorization: 'Token ${token}' } }));
const page = await files.userFilesV2UserFilesV2Post({ organizationUserFilesToSyncQueryInput: { filters: { name: 'harbour' } } });
const name: string | null | undefined = page.results[0]?.name;
console.log(JSON.stringify({ count: page.count, name }));
`,
  );
  await checkTypes(client, [file]);
  expect(JSON.parse(await runTypeScript(file))).toEqual(FOUND);
}, 3_600_000);

test('the client in Go has every operation, compiles and calls the service', async () => {
  const client = path.join(service.folder, 'go');
  // Constants of all Go enums share one scope: without the prefix, two enums with the value READY would conflict.
  await generateClient('go', service.document, client, ['enumClassPrefix=true', 'packageName=made']);
  expectComplete(
    await namesIn(client, /^func \(a \*\w+Service\) (\w+)\(ctx/gm),
    await namesIn(client, /^type (\w+) struct/gm),
  );
  const program = path.join(client, 'program');
  await mkdir(program);
  await writeFile(
    path.join(program, 'main.go'),
    `package main

import (
	"context"
	"encoding/json"
	"os"

	made "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func main() {
	configuration := made.NewConfiguration()
	configuration.Servers = made.ServerConfigurations{{URL: "${service.url}"}}
	configuration.AddDefaultHeader("authorization", "Token ${service.token}")
	filters := made.NewOrganizationUserFilesToSyncFilters()
	filters.SetName("harbour")
	body := made.NewOrganizationUserFilesToSyncQueryInput()
	body.SetFilters(*filters)
	page, _, err := made.NewAPIClient(configuration).FilesAPI.
		UserFilesV2UserFilesV2Post(context.Background()).
		OrganizationUserFilesToSyncQueryInput(*body).Execute()
	if err != nil {
		panic(err)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{"count": page.Count, "name": page.Results[0].Name.Get()})
}
`,
  );
  const built = path.join(client, 'built');
  await run('go', ['-C', client, 'build', '-mod=mod', '-o', built, './program']).catch(orNeeds(NEEDS_GO));
  expect(JSON.parse(await run(built, []))).toEqual(FOUND);
}, 3_600_000);
