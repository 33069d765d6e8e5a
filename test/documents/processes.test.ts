/** Tests the lifecycle of reader processes with simulated children; test/system/contents/pool.test.ts has real ones. */
import { EventEmitter, getEventListeners } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeEach, expect, jest, test } from '@jest/globals';

import type { PoolAnswer, PoolDocument } from '../../documents/answerTask.js';
import type { ProcessMessage, ProcessTask } from '../../documents/poolProcess.js';
import type { Readers } from '../../documents/readers.js';
import { input, LIMITS } from './page.js';

const MB = 1024 * 1024;
/** Resident memory by process id. */
const resident = new Map<number, number>();
const children: Child[] = [];

class Child extends EventEmitter {
  readonly pid = 1_000 + children.length;
  readonly stderr = Object.assign(new EventEmitter(), { setEncoding: () => this.stderr, unref: () => undefined });
  readonly channel = { ref: () => undefined, unref: () => undefined };
  readonly tasks: ProcessTask[] = [];
  readonly connected = true;
  killed = false;
  exitCode: number | null = null;
  signalCode: NodeJS.Signals | null = null;
  /** Number of references to the child that keep the parent process alive. */
  refs = 1;
  ref = (): void => void (this.refs += 1);
  unref = (): void => void (this.refs = 0);
  kill = (): boolean => (this.killed = true);
  send = (task: ProcessTask): void => void this.tasks.push(task);
  says = (message: ProcessMessage): boolean => this.emit('message', message);
  ends(code: number | null, signal: NodeJS.Signals | null = null): void {
    [this.exitCode, this.signalCode] = [code, signal];
    this.emit('exit', code, signal);
    this.emit('close', code, signal);
  }
}

jest.unstable_mockModule('node:child_process', () => ({
  fork: () => {
    const child = new Child();
    children.push(child);
    return child;
  },
}));
jest.unstable_mockModule('../../documents/residentBytes.js', () => ({
  residentBytes: (pid: number | null | undefined) => resident.get(pid ?? 0) ?? 0,
}));
const { createProcesses } = await import('../../documents/processes.js');
const { LimitExceeded, ReaderCrashed } = await import('../../documents/readers.js');

const textFolder = mkdtempSync(path.join(tmpdir(), 'processes-'));
afterAll(() => rmSync(textFolder, { recursive: true }));

const endedPrograms: number[] = [];
let readers: Readers;
beforeEach(() => {
  jest.useFakeTimers();
  jest.spyOn(process, 'kill').mockImplementation((pid) => {
    endedPrograms.push(pid);
    return true;
  });
  [children, endedPrograms].forEach((list) => list.splice(0));
  resident.clear();
  readers = createProcesses({
    ...{ processes: 2, timeoutMs: 5_000, memoryMb: 100, limits: LIMITS, textFolder, idleMs: 1_000 },
    names: { timeout: 'TIME_SETTING', memory: 'MEMORY_SETTING' },
  });
});
afterEach(() => {
  jest.restoreAllMocks();
  jest.useRealTimers();
});

const DOCUMENT: PoolDocument = { input: input('<p>x'), links: { withText: true } as never };
const ANSWER: PoolAnswer = { document: { urls: [], text: '' } };
const signal = (): AbortSignal => new AbortController().signal;
/** Starts a task; the returned promise resolves with the error of a failed one. */
const run = (stop: AbortSignal = signal(), documents = [DOCUMENT]): Promise<unknown> =>
  readers.run(documents, stop).catch((error: unknown) => error);

test('reads one task after another in the same process, without listeners of earlier ones', async () => {
  const stop = signal();
  for (let nth = 0; nth < 3; nth += 1) {
    const answers = run(stop);
    expect(children).toHaveLength(1);
    expect(children[0]!.refs).toBeGreaterThan(0);
    children[0]!.says({ begun: true });
    children[0]!.says({ answers: [ANSWER] });
    expect(await answers).toEqual([ANSWER]);
    expect(children[0]!.refs).toBe(0);
  }
  expect(getEventListeners(stop, 'abort')).toEqual([]);
  // Only the listeners that a child has from its start to its end remain.
  expect(['message', 'exit', 'close', 'error'].map((name) => children[0]!.listenerCount(name))).toEqual([1, 1, 0, 1]);
});

test('ends a process that was idle for idleMs, and gives the next task to a new process', async () => {
  const first = run();
  children[0]!.says({ answers: [ANSWER] });
  await first;
  jest.advanceTimersByTime(999);
  expect(children[0]!.killed).toBe(false);
  // The time starts again with each task.
  const second = run();
  jest.advanceTimersByTime(2_000);
  expect([children.length, children[0]!.killed]).toEqual([1, false]);
  children[0]!.says({ answers: [ANSWER] });
  await second;
  jest.advanceTimersByTime(1_000);
  expect(children[0]!.killed).toBe(true);
  void run();
  expect(children.map(({ tasks }) => tasks.length)).toEqual([2, 1]);
});

test('does not keep a process that has grown above half of its memory limit', async () => {
  for (const [bytes, isKept] of [
    [50 * MB, true],
    [50 * MB + 1, false],
  ] as const) {
    const answers = run();
    const child = children.at(-1)!;
    resident.set(child.pid, bytes);
    child.says({ answers: [ANSWER] });
    await answers;
    expect(child.killed).toBe(!isKept);
  }
});

test('does not give a task to a process that died while it was idle', async () => {
  const answers = run();
  children[0]!.says({ answers: [ANSWER] });
  await answers;
  children[0]!.exitCode = 1;
  void run();
  expect(children.map(({ tasks }) => tasks.length)).toEqual([1, 1]);
});

test('ends a process at its time limit, which starts when the process begins the task', async () => {
  const ended = run();
  jest.advanceTimersByTime(30_000);
  children[0]!.says({ begun: true });
  // The time limit starts at the first check after the begin. A check runs every 50 ms.
  jest.advanceTimersByTime(5_050);
  expect(children[0]!.killed).toBe(false);
  jest.advanceTimersByTime(50);
  const error = await ended;
  expect(error).toBeInstanceOf(LimitExceeded);
  expect(error).toMatchObject({ fault: { kind: 'parse_limit', message: expect.stringMatching(/5 s.*TIME_SETTING/) } });
  expect(children[0]!.killed).toBe(true);
  expect(jest.getTimerCount()).toBe(0);
});

test('fails a task whose process does not start', async () => {
  const ended = run();
  jest.advanceTimersByTime(60_050);
  expect(await ended).toMatchObject({ message: expect.stringContaining('did not start') });
  expect(children[0]!.killed).toBe(true);
});

test('ends a process and the program that it runs when their total memory exceeds the limit', async () => {
  const ended = run();
  children[0]!.says({ begun: true });
  children[0]!.says({ program: 77 });
  resident.set(children[0]!.pid, 40 * MB).set(77, 60 * MB);
  jest.advanceTimersByTime(100);
  expect(children[0]!.killed).toBe(false);
  resident.set(77, 60 * MB + 1);
  jest.advanceTimersByTime(50);
  expect(await ended).toMatchObject({ fault: { message: expect.stringMatching(/100 MB.*MEMORY_SETTING/) } });
  expect([children[0]!.killed, endedPrograms]).toEqual([true, [77]]);
});

test('ends the program of a process that died, also if the message with its pid arrives after the death', async () => {
  const first = run();
  children[0]!.says({ program: 77 });
  children[0]!.ends(1);
  await first;
  expect(endedPrograms).toEqual([77]);
  const second = run();
  children[1]!.ends(null, 'SIGKILL');
  await second;
  children[1]!.says({ program: 78 });
  expect(endedPrograms).toEqual([77, 78]);
});

test('a program that has ended is not ended again with its process', async () => {
  const ended = run();
  children[0]!.says({ program: 77 });
  children[0]!.says({ program: null });
  children[0]!.ends(1);
  await ended;
  expect(endedPrograms).toEqual([]);
});

test('an abort ends the process and removes the text files of all documents', async () => {
  const stop = new AbortController();
  const ended = run(stop.signal, [DOCUMENT, DOCUMENT]);
  const files = [0, 1].map((nth) => `${children[0]!.tasks[0]!.textFiles}-${nth}`);
  for (const file of files) {
    expect(path.dirname(file)).toBe(textFolder);
    writeFileSync(file, 'text');
  }
  stop.abort('the caller has left');
  expect(await ended).toBe('the caller has left');
  expect([children[0]!.killed, ...files.map((file) => existsSync(file))]).toEqual([true, false, false]);
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  expect(jest.getTimerCount()).toBe(0);
});

test('a task that is aborted before it starts is not sent', async () => {
  expect(await run(AbortSignal.abort('early'))).toBe('early');
  expect(children.map(({ tasks, killed }) => [tasks.length, killed])).toEqual([[0, true]]);
  expect(jest.getTimerCount()).toBe(0);
});

/** How a process ends, and whether that means a full heap. */
const ENDS: readonly (readonly [code: number | null, signal: NodeJS.Signals | null, isOutOfMemory: boolean])[] = [
  [null, 'SIGABRT', true],
  [134, null, true],
  [null, 'SIGSEGV', false],
  [1, null, false],
];
test('reports a full heap as a limit, and any other end as a crash with the last output', async () => {
  for (const [code, endedBy, isOutOfMemory] of ENDS) {
    const ended = run(signal(), [DOCUMENT, DOCUMENT]);
    const child = children.at(-1)!;
    resident.set(child.pid, 30 * MB);
    jest.advanceTimersByTime(50);
    child.stderr.emit('data', `${'x'.repeat(2_000)}the end\n`);
    child.ends(code, endedBy);
    const error = await ended;
    expect(error instanceof ReaderCrashed).toBe(!isOutOfMemory);
    if (isOutOfMemory) expect(error).toMatchObject({ fault: { message: expect.stringContaining('MEMORY_SETTING') } });
    else {
      const { crash } = error as InstanceType<typeof ReaderCrashed>;
      expect(crash).toMatchObject({
        ...{ reader: 'process', pid: child.pid, exitCode: code, signal: endedBy },
        ...{ memoryMb: 30, limitMb: 100, documents: 2, detail: expect.stringMatching(/^x+the end$/) },
      });
      expect(crash.detail.length).toBeLessThan(2_001);
    }
  }
});

test('closing ends idle and working processes, and waits until they have ended', async () => {
  const first = run();
  const second = run();
  children[0]!.says({ answers: [ANSWER] });
  await first;
  let isClosed = false;
  const closing = readers.close().then(() => (isClosed = true));
  expect(children.map(({ killed }) => killed)).toEqual([true, true]);
  children[0]!.ends(null, 'SIGKILL');
  await Promise.resolve();
  expect(isClosed).toBe(false);
  children[1]!.ends(null, 'SIGKILL');
  await closing;
  expect(await second).toBeInstanceOf(ReaderCrashed);
});
