/** Allowed imports, as in the table of docs/architecture.md. */
const modules =
  'api|workflows|activities|worker|dispatch|egress|observability|cli|config|connectors|documents|providers|store|engines|bench|scripts|test';

/** A module may import only itself, contract and the modules named. */
const module_ = (name, allowed, extra = {}) => ({
  name: `${name.replace('/', '-')}-imports`,
  comment: `${name} may import ${['contract', ...allowed].join(', ')} and no other module of the project.`,
  severity: 'error',
  from: { path: `^${name}/`, ...extra.from },
  to: { path: `^(${modules})/`, pathNot: `^(${[name, ...allowed].join('|')})/`, ...extra.to },
});

/** A package that only the named modules, test and bench may import. */
const owned = (pattern, owners) => ({
  name: `only-${owners.join('-or-')}`,
  comment: `${pattern} is imported in ${owners.join(', ')} only.`,
  severity: 'error',
  from: { pathNot: `^(${owners.join('|')}|test|bench)` },
  to: { path: `node_modules/${pattern}` },
});

/** Folders of activities/, highest first: each may import those after it, and the files next to the folders. */
const JOBS = [
  ['runs'],
  ['coldStorage', 'delete', 'discover', 'reembed', 'webhooks'],
  ['ingest'],
  ['connected'],
  ['quarantine'],
  ['generations'],
];

/**
 * Folders of store/, lowest first: each may import those before it, and the files next to the folders. `models` has
 * the schemas and indexes of all records. With these, a folder may also query the collections of folders after it, but
 * not call their functions.
 */
const RECORDS = [
  ['database'],
  ['secrets'],
  ['models'],
  ['events', 'frontier', 'migrations', 'usage', 'users', 'webhooks', 'whiteLabels', 'workers'],
  ['contents', 'items', 'ledger', 'organizations', 'recognizedPages', 'schedules', 'selections', 'siteBlocks'],
  ['dataSources', 'originals'],
  ['files'],
  ['chunks', 'quarantine', 'runs', 'vectors'],
  ['coldStorage', 'connections', 'overview', 'reconcile', 'reembeds'],
];

/** Folders of contract/, lowest first. */
const TABLES = [['sources', 'vectors'], ['files'], ['accounts'], ['runs']];

module.exports = {
  forbidden: [
    ...TABLES.map((tables, level) => ({
      name: `contract-${tables.join('-')}-point-downwards`,
      severity: 'error',
      from: { path: `^contract/(${tables.join('|')})/` },
      to: { path: `^contract/(${TABLES.slice(level).flat().join('|')})/`, pathNot: '^contract/$1/' },
    })),
    ...RECORDS.map((records, level) => ({
      name: `store-${records[0]}-points-downwards`,
      severity: 'error',
      from: { path: `^store/(${records.join('|')})/` },
      to: { path: `^store/(${RECORDS.slice(level).flat().join('|')})/`, pathNot: '^store/$1/' },
    })),
    {
      name: 'store-folders-are-ordered',
      comment: 'Add a new folder to RECORDS.',
      severity: 'error',
      from: { path: '^store/[^/]+/', pathNot: `^store/(${RECORDS.flat().join('|')})/` },
      to: {},
    },
    ...JOBS.map((jobs, level) => ({
      name: `activities-${jobs.join('-')}-point-downwards`,
      severity: 'error',
      from: { path: `^activities/(${jobs.join('|')})/` },
      to: {
        path: `^activities/(${JOBS.slice(0, level + 1)
          .flat()
          .join('|')}|index\\.ts)`,
        pathNot: '^activities/$1/',
      },
    })),
    {
      name: 'activities-files-do-not-import-folders',
      severity: 'error',
      from: { path: '^activities/[^/]+\\.ts$', pathNot: '^activities/index\\.ts$' },
      to: { path: `^activities/(${JOBS.flat().join('|')}|index)` },
    },
    { name: 'contract-is-pure', severity: 'error', from: { path: '^contract/' }, to: { pathNot: '^contract/' } },
    module_('config/process', []),
    // config imports, from each of these modules, the functions that read the settings of that module.
    module_('config', ['connectors', 'documents', 'egress', 'providers', 'observability', 'store']),
    module_('egress', []),
    module_('observability', []),
    module_('connectors', ['egress', 'observability']),
    module_('documents', ['egress', 'observability']),
    module_('providers', ['egress', 'observability']),
    {
      name: 'kinds-of-providers-do-not-import-each-other',
      comment: 'Embeddings, rerankers, transcription and lookups do not import each other.',
      severity: 'error',
      from: { path: '^providers/([^/]+)/' },
      to: { path: '^providers/([^/]+)/', pathNot: '^providers/$1/' },
    },
    module_('store', ['observability']),
    module_('dispatch', ['store', 'observability', 'config/process'], { to: { dependencyTypesNot: ['type-only'] } }),
    module_('activities', ['connectors', 'documents', 'providers', 'store', 'egress', 'observability']),
    // Activities get the functions of these modules through their parameter deps.
    {
      name: 'activities-import-other-modules-as-types',
      severity: 'error',
      from: { path: '^activities/' },
      to: {
        path: '^(connectors|documents|providers|store|egress)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'workflows-are-sandboxed',
      comment:
        'Workflows import contract, each other, types of activities, @temporalio/workflow and @temporalio/common.',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { pathNot: ['^workflows/', '^contract/', '^activities/', 'node_modules/@temporalio/(workflow|common)/'] },
    },
    {
      name: 'workflows-import-activities-as-types',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^activities/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'api-imports-workflows-as-types',
      severity: 'error',
      from: { path: '^api/' },
      to: { path: '^workflows/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'api-imports',
      comment:
        'api imports contract, store and config/process, and types of others. server.ts and createApi.ts are exempt.',
      severity: 'error',
      from: { path: '^api/', pathNot: '^api/(server|createApi)\\.ts$' },
      to: { path: `^(${modules})/`, pathNot: '^(api|store|config/process)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'api-http-is-below-operations',
      comment: 'Operations import http/, presenters/ and schemas/, which do not import operations.',
      severity: 'error',
      from: { path: '^api/http/' },
      to: { path: '^api/', pathNot: '^api/(http|schemas)/' },
    },
    {
      name: 'api-presenters-are-below-operations',
      severity: 'error',
      from: { path: '^api/presenters/' },
      to: { path: '^api/', pathNot: '^api/(presenters|schemas)/' },
    },
    {
      name: 'api-schemas-are-below-all-of-api',
      severity: 'error',
      from: { path: '^api/schemas/' },
      to: { path: '^api/', pathNot: '^api/schemas/' },
    },
    {
      name: 'worker-does-not-import-api',
      severity: 'error',
      from: { path: '^worker/' },
      to: { path: '^(api|engines|scripts|test|cli)/' },
    },
    {
      name: 'scripts-import-emulators-of-tests',
      comment:
        'Scripts import only emulators, their fixtures and contracts from test/. scripts/recordHistory.ts is exempt.',
      severity: 'error',
      from: { path: '^scripts/', pathNot: '^scripts/recordHistory' },
      to: { path: '^test/', pathNot: '^test/(emulators|contracts|support/sourceFixtures)/' },
    },
    {
      name: 'connectors-do-not-import-each-other',
      severity: 'error',
      from: { path: '^connectors/([^/]+)/' },
      to: { path: '^connectors/([^/]+)/', pathNot: '^connectors/$1/' },
    },
    owned('mongoose/', ['store/', 'engines/']),
    owned('mongodb-connection-string-url/', ['store/']),
    owned('@qdrant/', ['store/']),
    owned('@aws-sdk/', ['store/', 'connectors/s3/']),
    owned('express/', ['api/']),
    owned('joi/', ['api/', 'config/']),
    owned('undici/', ['egress/']),
    owned('(pino|prom-client|@opentelemetry)/', ['observability/']),
    owned('playwright-core/', ['connectors/web/']),
    owned('@temporalio/client/', ['dispatch/', 'engines/', 'scripts/']),
    owned('@temporalio/worker/', ['worker/', 'scripts/']),
    owned('@temporalio/workflow/', ['workflows/']),
    owned('@temporalio/activity/', ['activities/']),
    owned('onnxruntime-node/', ['providers/embeddings/']),
    owned('(tesseract\\.js|@napi-rs/canvas)/', ['documents/', 'scripts/']),
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, pathNot: ['(^|/)[.]', '\\.test\\.ts$', '\\.cjs$', '^test/', '^scripts/'] },
      to: {},
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|\\.data|\\.engines|node_modules/\\.cache|bench/langchain|examples)' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
