/**
 * Runs long suites first, so that no long suite runs alone at the end. The suites in LONG come first, in the order of
 * their durations in CI. Other suites follow in Jest's order, which uses the durations of the last run. Of these, the
 * suites that share the API without a worker run last, because a process closes an API after several suites in a row
 * that do not use it (environment.cjs).
 */
const { readFileSync } = require('node:fs');
const { default: Sequencer } = require('@jest/test-sequencer');

const LONG = [
  'system/sources/catalogue',
  'system/outages/storesDown',
  'system/requests/eventLoop',
  'system/sources/operations',
  'system/contents/transcription',
  'system/browser/trapSite',
  'system/contents/pool',
  'system/outages/stalls',
  'system/contents/ocr',
  'system/commands/npmCommands',
  'system/contents/ocrLanguages',
  'system/kills/kill',
  'system/examples/examples',
  'system/outages/everyWorkflow',
  'system/contents/bombs',
  'system/commands/cli',
  'system/contents/ocrNative',
  'system/outages/damagedVectors',
  'system/requests/contractCalls',
  'system/clients/typescript',
  'system/commands/npmStart',
  'system/sources/autoSync',
  'system/mcp/mcpConformance',
  'system/observability/ops',
  'system/kills/killInCommit',
  'system/contents/transcriptionSettings',
  'system/kills/idempotencySizes',
  'system/storage/reconcile',
  'system/kills/lostRuns',
  'system/sources/missingPages',
  'system/contents/hostilePages',
  'system/browser/scrapeFields',
  'system/requests/docsPage',
  'system/kills/terminated',
  'system/storage/fairUsers',
  'system/sources/rssFeedRows',
  'system/storage/quarantine',
  'system/storage/coldStorage',
  'system/storage/reembed',
  'system/observability/exports',
  'system/requests/uploadRequests',
  'system/outages/receivers',
  'system/browser/browser',
  'system/storage/coldBucket',
  'system/engines/start',
  'system/sources/maxTokens',
  'system/requests/limits',
  'system/requests/olderForms',
  'system/outages/slowQdrant',
  'system/outages/lastCause',
  'system/kills/uploadCleanUp',
  'system/engines/keepRunning',
  'system/contents/ocrFiles',
  'system/sources/connectEnds',
  'system/storage/sparseVectors',
  'acceptance/scrapeSitemap',
  'acceptance/tenants',
  'acceptance/tags',
  'acceptance/webhooks',
  'acceptance/users',
  'acceptance/webPages',
  'acceptance/webScrape',
  'acceptance/embeddingModels',
  'acceptance/lifecycle',
  'acceptance/sources',
  'system/engines/localPool',
  'acceptance/oauthConnect',
  'system/contents/repeatedBlocks',
  'system/requests/states',
  'documents/formats/everyFormat',
  'system/concurrency/uploadStream',
  'acceptance/rssFeed',
  'system/requests/dryRun',
  'system/concurrency/resyncAtOnce',
  'acceptance/uploadTypes',
  'store/fileTransitions',
  'acceptance/deleteUsers',
  'acceptance/accepted',
  'providers/embeddings/remoteProviders',
  'connectors/sharedHostLimiter',
  'system/sources/all/changesBetweenPages',
  'system/reference/sampleSources',
  'system/sources/sitemapRuns',
];
const sharesApi = (path) => readFileSync(path, 'utf8').includes('= await sharedService({ worker: false })');
const rankOf = (path) => {
  const rank = LONG.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
  if (rank >= 0) return rank;
  return sharesApi(path) ? LONG.length + 1 : LONG.length;
};

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const ranks = new Map(tests.map(({ path }) => [path, rankOf(path)]));
    return super.sort(tests).toSorted((a, b) => ranks.get(a.path) - ranks.get(b.path));
  }
};
