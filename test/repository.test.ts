import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The main dependencies, each with the folder that may import it. */
const OWNERS: Record<string, string> = {
  '@temporalio/client': 'dispatch',
  '@temporalio/worker': 'worker',
  '@temporalio/workflow': 'workflows',
  express: 'api',
  joi: 'api',
  mongoose: 'store',
  '@qdrant/js-client-rest': 'store',
  'playwright-core': 'connectors',
  '@jest/globals': 'test',
};

/** Files and folders other than the owner that may import a package. */
const EXCEPTIONS: Record<string, readonly string[]> = {
  // Settings are validated with the library that validates request bodies.
  joi: ['config/'],
  // The engines check their health and initiate MongoDB's replica set before any store exists.
  mongoose: ['engines/mongodb.ts'],
  '@temporalio/client': ['engines/temporal.ts', 'scripts/recordHistory.ts'],
  // Histories are recorded and workflows are bundled before any worker runs.
  '@temporalio/worker': ['scripts/recordHistory.ts', 'scripts/compile.ts'],
};

const MODULES = [
  'api',
  'workflows',
  'activities',
  'worker',
  'dispatch',
  'egress',
  'config',
  'observability',
  'cli',
  'connectors',
  'documents',
  'providers',
  'store',
  'engines',
  'contract',
  'scripts',
];

function sources(folder: string): string[] {
  return readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name}`);
}

const importsOf = (file: string): string[] =>
  [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(/(?:from|import\(|require\()\s*'([^'.][^']*)'/g)].map(
    ([, name]) => name ?? '',
  );

describe('the structure of the repository', () => {
  const packageJson = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as Record<
    'dependencies' | 'devDependencies',
    Record<string, string>
  >;

  test.each([...Object.keys(OWNERS).filter((name) => name !== '@jest/globals'), 'jest'])(
    'package.json depends on %s',
    (name) => {
      expect({ ...packageJson.dependencies, ...packageJson.devDependencies }).toHaveProperty([name]);
    },
  );

  test.each(Object.entries(OWNERS).filter(([name]) => name !== '@jest/globals'))(
    '%s is imported only in %s, apart from the exceptions',
    (name, module) => {
      const files = MODULES.flatMap(sources);
      const importers = files.filter((file) =>
        importsOf(file).some((found) => found === name || found.startsWith(`${name}/`)),
      );
      expect(importers.some((file) => file.startsWith(`${module}/`))).toBe(true);
      const outsiders = importers.filter(
        (file) => ![`${module}/`, ...(EXCEPTIONS[name] ?? [])].some((place) => file.startsWith(place)),
      );
      expect(outsiders).toEqual([]);
    },
  );

  test.each(['package.json', 'tsconfig.json', 'api', 'workflows', 'activities', 'worker', 'test', 'README.md'])(
    '%s exists at the top level',
    (name) => {
      expect(existsSync(path.join(ROOT, name))).toBe(true);
    },
  );

  test('no folder has a name that does not say what it contains, such as utils', () => {
    const folders = MODULES.flatMap((module) =>
      readdirSync(path.join(ROOT, module), { recursive: true, encoding: 'utf8' }).filter((name) =>
        statSync(path.join(ROOT, module, name)).isDirectory(),
      ),
    );
    expect(folders.filter((name) => /(^|\/)(utils|helpers|common|lib|shared)$/.test(name))).toEqual([]);
  });

  test('the lock file contains no download URLs', () => {
    expect(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')).not.toContain('"resolved": "http');
  });

  test('the lock file lists every platform package, as npm ci requires', () => {
    const { packages } = JSON.parse(readFileSync(path.join(ROOT, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { optionalDependencies?: Record<string, string> }>;
    };
    const lockedPackages = new Set(
      Object.keys(packages).map((key) => key.slice(key.lastIndexOf('node_modules/') + 'node_modules/'.length)),
    );
    const optionalPackages = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    // `npm run lock:complete` adds missing packages.
    expect(optionalPackages.filter((name) => !lockedPackages.has(name))).toEqual([]);
  });

  test('docs/security.md has a row for each of the 41 threats, and every test that it names exists', () => {
    const rows = readFileSync(path.join(ROOT, 'docs/security.md'), 'utf8').match(/^\| \d+ \|.*$/gm) ?? [];
    expect(rows.map((row) => Number(/\d+/.exec(row)?.[0]))).toEqual(Array.from({ length: 41 }, (_, nth) => nth + 1));
    const proofs = rows.map((row) => [...row.matchAll(/`(test\/[^`]+\.ts)` "([^"]+)"/g)]);
    expect(proofs.filter((found) => found.length === 0)).toEqual([]);
    const missing = proofs.flat().filter(([, file = '', title = '']) => {
      const at = path.join(ROOT, file);
      return !existsSync(at) || !readFileSync(at, 'utf8').includes(title);
    });
    expect(missing.map(([proof]) => proof)).toEqual([]);
  });

  test('no code copies a store to replace its members', () => {
    const copies = MODULES.flatMap(sources).filter((file) =>
      /\.\.\.(?:\w+\.)?store\b/i.test(readFileSync(path.join(ROOT, file), 'utf8')),
    );
    expect(copies).toEqual([]);
  });

  test('only store/database/record.ts creates mongoose schemas, so each field is defined once', () => {
    const files = MODULES.flatMap(sources).filter((file) =>
      /new (?:mongoose\.)?Schema\b/.test(readFileSync(path.join(ROOT, file), 'utf8')),
    );
    expect(files).toEqual(['store/database/record.ts']);
  });

  test('providers call the egress only through providers/serviceClient.ts', () => {
    const callers = sources('providers').filter((file) =>
      /\.request\s*\(/.test(readFileSync(path.join(ROOT, file), 'utf8')),
    );
    expect(callers).toEqual(['providers/serviceClient.ts']);
  });

  test('connectors parse cursors only through connectors/cursors.ts', () => {
    const allowed: Readonly<Record<string, string>> = {
      'connectors/cursors.ts': 'all cursors',
      'connectors/account.ts': 'stored credentials',
      'connectors/rssFeed/readFeed.ts': 'stored credentials',
      'connectors/box/note.ts': 'content',
      'connectors/dropbox/api.ts': 'a header',
      'connectors/google/gmail/index.ts': 'an answer',
      'connectors/oauth/revokeGrant.ts': 'an answer',
      'connectors/oauth/tokenRequests.ts': 'an answer',
      'connectors/parseAnswer.ts': 'an answer',
      'connectors/rssFeed/jsonFeed.ts': 'an answer',
    };
    const parsers = sources('connectors').filter((file) =>
      readFileSync(path.join(ROOT, file), 'utf8').includes('JSON.parse('),
    );
    expect(parsers.toSorted()).toEqual(Object.keys(allowed).toSorted());
  });

  test('only config/config.ts reads the environment in the service itself', () => {
    const service = MODULES.filter((module) => !['engines', 'scripts'].includes(module)).flatMap(sources);
    const readers = service.filter((file) => readFileSync(path.join(ROOT, file), 'utf8').includes('process.env'));
    // The code samples of the OpenAPI document are texts, which the service does not run.
    expect(readers).toEqual(['api/openapi/samples/typescript.ts', 'config/config.ts']);
  });
});

test('package, image, OpenAPI document and changelog state the same version', () => {
  const read = (name: string) => readFileSync(path.join(ROOT, name), 'utf8');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const versions = [
    /image: allotrope:(\S+)/.exec(read('docker-compose.yml')),
    /version: '(\d[^']*)'/.exec(read('api/openapi/document.ts')),
    /^## (\d\S*)/m.exec(read('CHANGELOG.md')),
  ];
  expect(versions.map((match) => match?.[1])).toEqual([version, version, version]);
});
