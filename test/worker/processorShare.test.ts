import { beforeEach, expect, jest, test } from '@jest/globals';

/** Contents of fake files of Linux's /proc, by path: https://man7.org/linux/man-pages/man5/proc.5.html */
let files = new Map<string, string>();
jest.unstable_mockModule('node:fs', () => ({
  readdirSync: () => [
    ...[...files.keys()].flatMap((path) => /^\/proc\/(\d+)\//.exec(path)?.[1] ?? []),
    // Some entries are not processes, and some processes end before they are read.
    ...['self', 'sys', '4194303'],
  ],
  readFileSync: (path: string) => {
    const text = files.get(path);
    if (text === undefined) throw Object.assign(new Error(`ENOENT ${path}`), { code: 'ENOENT' });
    return text;
  },
}));
const { createLoadMeter } = await import('../../worker/processorShare.js');

const ROOT = 10;
let atMs = 0;
jest.spyOn(performance, 'now').mockImplementation(() => atMs);
beforeEach(() => {
  atMs = 1_000;
});

/** Ticks in user and system mode, and those of children that have ended. */
type Ticks = readonly [user: number, system: number, childrenUser: number, childrenSystem: number];
interface Machine {
  /** Time that the main thread ran, and that it waited for a processor, in nanoseconds. */
  readonly ran: number;
  readonly waited: number;
  /** Ticks of all cores: user, nice, system, idle, iowait, irq, softirq, steal, guest. */
  readonly ticks: readonly number[];
  readonly processes: readonly (readonly [pid: number, parent: number, ticks: Ticks])[];
}

function writeProc({ ran, waited, ticks, processes }: Machine): void {
  const stats = processes.map(([pid, parent, times]): [string, string] => [
    `/proc/${pid}/stat`,
    // A process name may contain spaces and brackets.
    `${pid} (node (main) 1 2) S ${parent} 3 4 5 6 7 8 9 10 11 ${times.join(' ')} 20 0 1 0 99`,
  ]);
  files = new Map([
    ['/proc/self/schedstat', `${ran} ${waited} 77\n`],
    ['/proc/stat', `cpu  ${ticks.join(' ')}\ncpu0 1 2 3 4 5 6 7 8 9\nintr 12\n`],
    ...stats,
  ]);
}
const scaled = (machine: Machine, factor: number): Machine => ({
  ran: machine.ran * factor,
  waited: machine.waited * factor,
  ticks: machine.ticks.map((count) => count * factor),
  processes: machine.processes.map(([pid, parent, counters]) => [
    pid,
    parent,
    counters.map((time) => time * factor) as never,
  ]),
});

/** Five seconds, 500 ticks: 150 are idle or wait for disks, and 52 of the 350 busy ones belong to ROOT, 11 and 12. */
const STEP: Machine = {
  ...{ ran: 3e9, waited: 1e9, ticks: [200, 30, 50, 100, 50, 10, 20, 40, 7] },
  processes: [
    [1, 0, [99, 99, 99, 99]],
    [ROOT, 1, [4, 3, 2, 1]],
    [11, ROOT, [8, 6, 4, 2]],
    [12, 11, [10, 7, 3, 2]],
    [20, 1, [50, 50, 0, 0]],
  ],
};
const SHARES = { waitShare: 0.25, waited: 0.2, othersShare: (350 - 52) / 500 };
const NO_SHARES = { waitShare: null, waited: null, othersShare: null };

test('the first reading has no shares; those of the second cover the time since the first', () => {
  const readLoad = createLoadMeter(ROOT);
  writeProc(STEP);
  expect(readLoad()).toEqual(NO_SHARES);
  writeProc(scaled(STEP, 2));
  atMs += 5_000;
  expect(readLoad()).toEqual(SHARES);
});

test('shares of later readings cover the last fifteen seconds', () => {
  const readLoad = createLoadMeter(ROOT);
  // The process does not wait at first; then it waits for one second in five.
  const busy = { ...STEP, waited: 0 };
  writeProc(busy);
  readLoad();
  const waited = [0, 1, 2, 3, 4].map((step) => {
    writeProc({ ...scaled(busy, step + 2), waited: step * 1e9 });
    atMs += 5_000;
    return readLoad().waited;
  });
  expect(waited).toEqual([0, 1 / 10, 2 / 15, 3 / 15, 3 / 15]);
});

test('a share is between 0 and 1, even if counters are inconsistent or do not change', () => {
  const readLoad = createLoadMeter(ROOT);
  writeProc(STEP);
  readLoad();
  writeProc(STEP);
  expect(readLoad()).toEqual({ waitShare: 0, waited: 0, othersShare: 0 });
  atMs += 1_000;
  writeProc({ ...STEP, waited: 9e9, processes: [[ROOT, 1, [900, 0, 0, 0]]], ticks: scaled(STEP, 2).ticks });
  expect(readLoad()).toEqual({ waitShare: 1, waited: 1, othersShare: 0 });
});

test('all shares are null without /proc', () => {
  files = new Map();
  const readLoad = createLoadMeter(ROOT);
  expect([readLoad(), readLoad()]).toEqual([NO_SHARES, NO_SHARES]);
});
