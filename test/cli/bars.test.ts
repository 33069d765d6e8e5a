/** Tests of progress output: bars on a terminal, plain lines in a log. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';

import { bar, createProgressDisplay, table } from '../../cli/bars.js';
import { everyRow } from '../support/everyRow.js';

const ROWS: [done: number, total: number, filled: number][] = [
  [0, 0, 0],
  [0, 4, 0],
  [1, 4, 7],
  [3, 4, 22],
  // The bar is full only when everything is done.
  [999, 1_000, 29],
  [4, 4, 30],
  [5, 4, 30],
];

test('fills a bar by the completed share, and completely only when all is done', () =>
  everyRow(ROWS, JSON.stringify, ([done, total, filled]) => {
    expect(bar(done, total)).toBe(`${'='.repeat(filled)}${'-'.repeat(30 - filled)} ${done}/${total}`);
  }));

beforeEach(() => {
  jest.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  jest.useRealTimers();
});

test('redraws over the previous output on a terminal, until it ends', () => {
  const written: string[] = [];
  const painter = createProgressDisplay({ isInteractive: true, err: (text) => void written.push(text) });
  painter.paint(['a', 'b']);
  painter.paint(['c']);
  painter.paint(['d']);
  painter.end();
  painter.paint(['e']);
  expect(written).toEqual(['\u001B[0Ja\nb\n', '\u001B[2A\u001B[0Jc\n', '\u001B[1A\u001B[0Jd\n', '\u001B[0Je\n']);
});

test('writes changed lines every ten seconds without control characters if there is no terminal', () => {
  const written: string[] = [];
  const painter = createProgressDisplay({ isInteractive: false, err: (text) => void written.push(text) });
  const after = (ms: number, line: string): void => {
    jest.advanceTimersByTime(ms);
    painter.paint([line]);
  };
  after(9_999, 'a');
  expect(written).toEqual([]);
  after(1, 'b');
  after(9_999, 'c');
  expect(written).toEqual(['b\n']);
  after(10_000, 'b');
  expect(written).toEqual(['b\n']);
  after(1, 'd');
  expect(written).toEqual(['b\n', 'd\n']);
});

test('without a terminal, writes the last lines at the end only if earlier lines were written and differ', () => {
  const written: string[] = [];
  const painter = createProgressDisplay({ isInteractive: false, err: (text) => void written.push(text) });
  painter.paint(['a']);
  painter.end();
  expect(written).toEqual([]);
  jest.advanceTimersByTime(10_000);
  painter.paint(['b']);
  painter.paint(['c']);
  painter.end();
  expect(written).toEqual(['b\n', 'c\n']);
  jest.advanceTimersByTime(10_000);
  painter.paint(['d']);
  painter.end();
  expect(written).toEqual(['b\n', 'c\n', 'd\n']);
});

test('makes each column of a table as wide as its widest cell', () => {
  const rows = [
    ['id', 'name'],
    ['1', 'harbour'],
    ['1000', ''],
  ];
  expect(table(rows)).toEqual(['id    name', '1     harbour', '1000']);
});
