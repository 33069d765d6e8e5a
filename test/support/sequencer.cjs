/**
 * Orders suites by duration, the longest first, so that no long suite runs alone at the end. Jest knows the durations of the
 * last run; on a clean checkout, as in CI, the suites in this list come first, in the order of their durations there.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

const LONG = [
  'system/sources/catalogue',
  'system/outages/storesDown',
  'system/sources/operations',
  'system/kills/steps',
  'system/requests/eventLoop',
  'system/outages/stalls',
  'system/contents/ocrLanguages',
  'system/browser/trapSite',
  'system/clients/document',
  'system/kills/kill',
  'system/contents/transcription',
  'system/examples/examples',
  'system/commands/cli',
  'system/contents/pool',
  'system/commands/npmCommands',
  'system/commands/npmStart',
  'system/contents/ocr',
  'system/requests/docsPage',
  'system/outages/damagedVectors',
  'system/observability/ops',
  'system/requests/contractCalls',
  'system/engines/qdrantIndexing',
  'system/sources/autoSync',
  'system/browser/scrapeFields',
  'system/kills/killInCommit',
  'system/requests/limits',
  'system/storage/reembed',
  'system/contents/ocrFiles',
  'system/storage/coldStorage',
  'system/browser/renderedPages',
  'system/browser/browser',
  'system/browser/connectWidget',
  'system/outages/outage',
  'system/storage/coldCopies',
  'system/storage/sparseVectors',
  'workflows/everyWorkflow',
  'acceptance/embeddingModels',
  'acceptance/scrapeSitemap',
  'acceptance/webScrape',
  'store/containers',
  'acceptance/uploadTypes',
  'acceptance/hybridSearch',
];
const rankOf = ({ path }) => {
  const rank = LONG.findIndex((name) => path.endsWith(`/test/${name}.test.ts`));
  return rank < 0 ? LONG.length : rank;
};

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
};
