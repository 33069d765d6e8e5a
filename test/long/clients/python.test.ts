import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { needlesslyLong, operationIds, plainName } from '../../support/clients/operations.js';
import { generatePythonClient, runPython } from '../../support/clients/python.js';
import { type ClientService, startClientService } from '../../support/clients/service.js';

let service: ClientService;
beforeAll(async () => {
  service = await startClientService();
});
afterAll(() => service.close());

test('openapi-python-client generates a module for every operation without warnings; a program calls the service with them', async () => {
  const client = path.join(service.folder, 'client');
  expect(await generatePythonClient(service.document, client)).not.toMatch(/warning|skip|unsupported/i);
  const files = await readdir(client, { recursive: true });
  const modules = files.flatMap((file) => /^[^/]+\/api\/[^/]+\/(?!__init__)(\w+)\.py$/.exec(file)?.[1] ?? []);
  expect(modules.map(plainName).toSorted()).toEqual(operationIds().map(plainName).toSorted());
  const [name = ''] = files.filter((file) => !file.includes('/') && file.endsWith('_client'));
  const models = await readFile(path.join(client, name, 'models', '__init__.py'), 'utf8');
  const classes = [...models.matchAll(/import (\w+)/g)].map(([, one = '']) => one);
  expect(classes.length).toBeGreaterThan(300);
  expect(needlesslyLong([...modules, ...classes])).toEqual([]);
  await runPython(client, ['-m', 'compileall', '-q', name]);
  const program = `
import importlib, json, pkgutil, sys
import ${name}
for module in pkgutil.walk_packages(${name}.__path__, "${name}."):
    importlib.import_module(module.name)
from ${name} import Client
from ${name}.api.files import user_files_v2_user_files_v2_post as list_files
from ${name}.models import OrganizationUserFilesToSyncFilters, OrganizationUserFilesToSyncQueryInput
client = Client(base_url="${service.url}", headers={"authorization": "Token ${service.token}"})
page = list_files.sync(
    client=client,
    body=OrganizationUserFilesToSyncQueryInput(filters=OrganizationUserFilesToSyncFilters(name="harbour")),
)
print(json.dumps({"count": page.count, "name": page.results[0].name, "tags": page.results[0].tags.to_dict()}))
`;
  expect(JSON.parse(await runPython(client, ['-c', program]))).toEqual({
    count: 1,
    name: expect.stringContaining('harbour'),
    tags: { town: 'Anholt' },
  });
}, 3_600_000);
