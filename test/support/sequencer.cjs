/**
 * Orders suites by duration, the longest first, so that no long suite runs alone at the end. Jest knows the durations of the
 * last run; on a clean checkout, the suites in this list come first. They mostly wait.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

const LONG = [
  'catalogue',
  'operations',
  'steps',
  'everyWorkflow',
  'contractCalls',
  'kill',
  'trapSite',
  'transcription',
  'qdrantIndexing',
  'autoSync',
  'scrapeFields',
  'killInCommit',
  'embeddingModels',
  'limits',
  'scrapeSitemap',
  'webScrape',
  'reembed',
  'ocr',
  'ocrFiles',
  'coldStorage',
  'uploadTypes',
  'renderedPages',
  'browser',
  'connectWidget',
  'outage',
  'coldCopies',
  'hybridSearch',
  'sparseVectors',
];
const rankOf = ({ path }) => {
  const rank = LONG.findIndex((name) => path.endsWith(`/${name}.test.ts`));
  return rank < 0 ? LONG.length : rank;
};

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).toSorted((a, b) => rankOf(a) - rankOf(b));
  }
};
