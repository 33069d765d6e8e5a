/**
 * Loaded by each Node process of `npm run coverage` before its program. Processes that read documents are always ended
 * by SIGKILL, at which Node writes no coverage: these write it as they answer. Given on to child processes whose
 * environment is not their parent's, as Node itself does with NODE_V8_COVERAGE alone.
 */
const { ChildProcess } = require('node:child_process');
const { performance } = require('node:perf_hooks');
const v8 = require('node:v8');
const { isMainThread } = require('node:worker_threads');

const ENDED_BY_SIGKILL = /[/\\]documents[/\\]poolProcess\.[jt]s$/;
/** Writing takes at most a twentieth of the time, and no process that lives less than this writes. */
const AT_MOST = 1 / 20;
const LEAST_MS = 1_000;

const own = `NODE_OPTIONS=--require=${JSON.stringify(__filename)}`;
const { spawn } = ChildProcess.prototype;
ChildProcess.prototype.spawn = function (options) {
  const isOurs = options.file === process.execPath && options.envPairs;
  const envPairs = options.envPairs?.some((pair) => pair.startsWith('NODE_OPTIONS='))
    ? options.envPairs
    : [...(options.envPairs ?? []), own];
  return spawn.call(this, isOurs ? { ...options, envPairs } : options);
};

/** Writes coverage before messages to the parent, which may end this process at the last of them. */
function writeAtMessages() {
  const { send } = process;
  let next = performance.now() + LEAST_MS;
  let timer = null;
  const write = () => {
    clearTimeout(timer);
    timer = null;
    const began = performance.now();
    v8.takeCoverage();
    const ended = performance.now();
    next = ended + Math.max(LEAST_MS, (ended - began) / AT_MOST);
  };
  process.send = function (...message) {
    const wait = next - performance.now();
    if (wait <= 0) write();
    else timer ??= setTimeout(write, wait).unref();
    return send.apply(this, message);
  };
}

if (isMainThread && process.send && ENDED_BY_SIGKILL.test(process.argv[1] ?? '')) writeAtMessages();
