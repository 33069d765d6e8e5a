/**
 * Jest's order of suites, the longest first, so that none of them is still at work alone when all others are done. Jest
 * itself knows how long each took the last time; on a clean checkout these come first, which mostly wait.
 */
const { default: Sequencer } = require('@jest/test-sequencer');

const LONG = [
  'steps',
  'ocr',
  'contractCalls',
  'kill',
  'killInCommit',
  'coldCopies',
  'scrapeFields',
  'coldStorage',
  'embeddingModels',
  'webScrape',
  'limits',
  'reembed',
  'trapSite',
  'outage',
  'catalogue',
  'operations',
  'renderedPages',
  'hybridSearch',
  'sparseVectors',
];
const isLong = ({ path }) => LONG.some((name) => path.endsWith(`/${name}.test.ts`));

module.exports = class LongestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    return [...sorted.filter(isLong), ...sorted.filter((test) => !isLong(test))];
  }
};
