/**
 * `npm run build`: compiles the service to dist/, bundles the workflows and builds the guide. Types are not checked
 * here (see `npm run check:types`), so a build takes about a second and can run at every start. Compiled processes
 * start faster and need less memory than with a loader.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { build } from 'esbuild';
import pLimit from 'p-limit';
import { glob } from 'tinyglobby';

import { docsBundle } from './docsBundle.js';
import { updateGuide } from './guide/update.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DIST = path.join(ROOT, 'dist');
const BUNDLE = path.join(DIST, 'workflow-bundle.js');
/** Hash of the bundle's inputs, written after the bundle. */
const STAMP = path.join(DIST, 'workflow-bundle.hash');
/** Script of the page at /docs, compressed. */
const DOCS_BUNDLE = path.join(DIST, 'api', 'docs', 'scalar.js.gz');
/** Hash of the package-lock.json for which that script was written; it is written after the script. */
const DOCS_STAMP = path.join(DIST, 'api', 'docs', 'scalar.hash');
/** The modules that run in production, and the parts of the embedded engines that API and command line use. */
const SOURCES = [
  'engines/{embeddedFailure,errors,lock,pidFile,restoring}.ts',
  'api/openapi/examples/*.json',
  '{activities,api,cli,config,connectors,contract,dispatch,documents,egress,observability,providers,store,worker,workflows}/**/*.ts',
];

/** A shell may limit open files to 256 (`ulimit -n`), and the build writes more than 2,000. */
const fewAtOnce = pLimit(16);

/** Writes a changed file atomically: another process may be starting from it. */
async function writeIfChanged(file: string, contents: string | Uint8Array): Promise<void> {
  const current = await readFile(file).catch(() => null);
  if (current?.equals(Buffer.from(contents))) return;
  await mkdir(path.dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  await writeFile(draft, contents);
  await rename(draft, file);
}

const entryPoints = await glob(SOURCES, { cwd: ROOT });
const { outputFiles } = await build({
  absWorkingDir: ROOT,
  entryPoints,
  outdir: DIST,
  outbase: ROOT,
  loader: { '.json': 'copy' },
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Source maps let Jest print source lines in stack traces.
  sourcemap: 'linked',
  sourcesContent: false,
  write: false,
  logLevel: 'error',
});
await fewAtOnce.map(outputFiles, (file) => writeIfChanged(file.path, file.contents));

// Remove outputs whose source is gone.
const written = new Set(outputFiles.map((file) => path.relative(DIST, file.path)));
const outdated = (await glob('**/*.{js,json,map}', { cwd: DIST, ignore: ['guide*/**'] })).filter(
  (file) => !written.has(file) && file !== 'workflow-bundle.js',
);
await fewAtOnce.map(outdated, (file) => rm(path.join(DIST, file), { force: true }));

const lock = await readFile(path.join(ROOT, 'package-lock.json'));
const locked = createHash('sha256').update(lock).digest('hex');
if ((await readFile(DOCS_STAMP, 'utf8').catch(() => '')) !== locked) {
  await writeIfChanged(DOCS_BUNDLE, gzipSync(await docsBundle(), { level: 9 }));
  await writeIfChanged(DOCS_STAMP, locked);
}

// Bundling takes seconds, so it only runs after a change of the inputs.
const hash = createHash('sha256').update(lock);
for (const file of outputFiles.toSorted((a, b) => a.path.localeCompare(b.path))) {
  if (/^(workflows|contract)\/.*\.js$/.test(path.relative(DIST, file.path)))
    hash.update(file.path).update(file.contents);
}
const stamp = hash.digest('hex');
if ((await readFile(STAMP, 'utf8').catch(() => '')) !== stamp) {
  const { code } = await bundleWorkflowCode({
    workflowsPath: path.join(DIST, 'workflows', 'index.js'),
    workflowInterceptorModules: [path.join(DIST, 'workflows', 'interceptors.js')],
    logger: new DefaultLogger('WARN'),
  });
  await writeIfChanged(BUNDLE, code);
  await writeIfChanged(STAMP, stamp);
}

// Takes a second or two, so it also runs only after a change.
if (!(await updateGuide(path.join(DIST, 'guide'))))
  console.warn('/guide is not available: its generator is a development dependency, which is not installed.');
