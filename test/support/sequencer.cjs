/**
 * Jest's order of suites, the longest first, so that none of them is still at work alone when all others are done. Jest
 * itself knows how long each took the last time; on a clean checkout these come first, which mostly wait.
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
