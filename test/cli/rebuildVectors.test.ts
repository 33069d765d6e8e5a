import { expect, test } from '@jest/globals';

import { isCompleteRebuild } from '../../cli/commands/rebuildVectors.js';
import { everyRow } from '../support/everyRow.js';

const DONE = {
  runs: 2,
  finishedRuns: 2,
  brokenRuns: 0,
  rebuilt: 5,
  chunks: 9,
  failed: 0,
  skipped: { cold: 3 },
} as const;

const ROWS: [fields: object, isComplete: boolean][] = [
  [{}, true],
  [{ runs: 0, finishedRuns: 0, rebuilt: 0 }, true],
  [{ finishedRuns: 1 }, false],
  [{ brokenRuns: 1 }, false],
  [{ failed: 1 }, false],
];

test('counts a rebuild of vectors as complete only if every run finished and no file failed', () =>
  everyRow(
    ROWS,
    ([fields]) => JSON.stringify(fields),
    ([fields, isComplete]) => expect(isCompleteRebuild({ ...DONE, ...fields } as never)).toBe(isComplete),
  ));
