/**
 * Preloaded into the processes of the service by `npm run bench -- --profile`: samples each thread and writes a profile
 * every few seconds, because a terminated thread cannot write one at its end.
 */
import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import path from 'node:path';
import { threadId } from 'node:worker_threads';

const WRITE_MS = 4_000;
const folder = process.env.BENCH_PROFILE_DIR;
const entry = path.basename(process.argv[1] ?? 'node').replace(/\.[jt]s$/, '');

if (folder) {
  const session = new Session();
  session.connect();
  let part = 0;
  const post = (method, then) => session.post(method, then);
  const write = () =>
    post('Profiler.stop', (error, answer) => {
      if (error) return;
      part += 1;
      writeFileSync(`${folder}/${entry}-${process.pid}-${threadId}-${part}.cpuprofile`, JSON.stringify(answer.profile));
    });
  post('Profiler.enable');
  session.post('Profiler.setSamplingInterval', { interval: 500 });
  post('Profiler.start');
  setInterval(() => {
    write();
    post('Profiler.start');
  }, WRITE_MS).unref();
  process.on('exit', write);
}
