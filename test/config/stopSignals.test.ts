import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';

import { onInterrupt, onStopSignal } from '../../config/process/stopSignals.js';
import { everyRow } from '../support/everyRow.js';

/** Time of the clock in milliseconds, which the test sets. The test calls the signal listeners, and records exits. */
let now = 5_000;
let exits: unknown[] = [];
beforeEach(() => {
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  jest.spyOn(process, 'exit').mockImplementation(((code: unknown) => void exits.push(code)) as never);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/**
 * The listener, signals with their milliseconds after the first one, and the exit code; null: the process continues.
 */
const ROWS: [what: 'stop' | 'interrupt', sent: [NodeJS.Signals, number][], code: number | null][] = [
  ['stop', [['SIGINT', 0]], null],
  ['stop', [['SIGTERM', 0]], null],
  // npm forwards a signal that the terminal has already sent to this process.
  [
    'stop',
    [
      ['SIGINT', 0],
      ['SIGINT', 2],
    ],
    null,
  ],
  [
    'stop',
    [
      ['SIGINT', 0],
      ['SIGTERM', 900],
    ],
    null,
  ],
  [
    'stop',
    [
      ['SIGINT', 0],
      ['SIGINT', 2],
      ['SIGINT', 1_100],
    ],
    1,
  ],
  [
    'stop',
    [
      ['SIGTERM', 0],
      ['SIGINT', 1_100],
    ],
    1,
  ],
  [
    'interrupt',
    [
      ['SIGINT', 0],
      ['SIGINT', 900],
    ],
    null,
  ],
  [
    'interrupt',
    [
      ['SIGINT', 0],
      ['SIGINT', 1_100],
    ],
    130,
  ],
];

test('requests one stop on the first signal, and exits only on another signal a second later', () =>
  everyRow(ROWS, JSON.stringify, ([what, sent, code]) => {
    exits = [];
    let stops = 0;
    const before = new Map((['SIGINT', 'SIGTERM'] as const).map((name) => [name, process.rawListeners(name)]));
    (what === 'stop' ? onStopSignal : onInterrupt)(() => void (stops += 1));
    const added = new Map(
      [...before].map(([name, listeners]) => [
        name,
        process.rawListeners(name).filter((listener) => !listeners.includes(listener)),
      ]),
    );
    try {
      // onInterrupt does not change how Node handles SIGTERM.
      expect([...added.values()].map(({ length }) => length)).toEqual([1, what === 'stop' ? 1 : 0]);
      const startedAt = now;
      for (const [name, after] of sent) {
        now = startedAt + after;
        for (const listener of added.get(name as 'SIGINT') ?? []) listener(name);
      }
      expect([stops, exits]).toEqual([1, code === null ? [] : [code]]);
    } finally {
      for (const [name, listeners] of added)
        for (const listener of listeners) process.removeListener(name, listener as () => void);
      now += 10_000;
    }
  }));
