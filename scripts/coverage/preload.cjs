/**
 * Loaded first by each Node process of `npm run coverage`, through NODE_OPTIONS. The pool ends document parser
 * processes by SIGKILL, and Node then writes no coverage, so this file writes it when they send a message. If a process
 * starts a Node process with an environment of its own, this file adds NODE_OPTIONS to it; Node adds only
 * NODE_V8_COVERAGE.
 */
const { ChildProcess } = require('node:child_process');
const { performance } = require('node:perf_hooks');
const v8 = require('node:v8');
const { isMainThread } = require('node:worker_threads');

const ENDED_BY_SIGKILL = /[/\\]documents[/\\]poolProcess\.[jt]s$/;
/** Maximum share of a process's time that is spent on writing coverage. */
const MAX_SHARE = 1 / 20;
/** Minimum milliseconds between two writes, and between the start of the process and the first write. */
const MIN_INTERVAL_MS = 1_000;

const own = `NODE_OPTIONS=--require=${JSON.stringify(__filename)}`;
const { spawn } = ChildProcess.prototype;
ChildProcess.prototype.spawn = function (options) {
  const isOurs = options.file === process.execPath && options.envPairs;
  const envPairs = options.envPairs?.some((pair) => pair.startsWith('NODE_OPTIONS='))
    ? options.envPairs
    : [...(options.envPairs ?? []), own];
  return spawn.call(this, isOurs ? { ...options, envPairs } : options);
};

/**
 * Writes coverage when the process sends a message to its parent, which may kill it after the last message. Within the
 * interval after a write, a timer delays the next write until the interval has ended.
 */
function writeAtMessages() {
  const { send } = process;
  let next = performance.now() + MIN_INTERVAL_MS;
  let timer = null;
  const write = () => {
    clearTimeout(timer);
    timer = null;
    const began = performance.now();
    v8.takeCoverage();
    const ended = performance.now();
    next = ended + Math.max(MIN_INTERVAL_MS, (ended - began) / MAX_SHARE);
  };
  process.send = function (...message) {
    const wait = next - performance.now();
    if (wait <= 0) write();
    else timer ??= setTimeout(write, wait).unref();
    return send.apply(this, message);
  };
}

if (isMainThread && process.send && ENDED_BY_SIGKILL.test(process.argv[1] ?? '')) writeAtMessages();
