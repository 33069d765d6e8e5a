/** A Temporal whose clock jumps, and clocks of this process that go by it: days of waiting in seconds. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { type InternalConnectionOptions, InternalConnectionOptionsSymbol } from '@temporalio/client/lib/connection.js';

import type { Activities } from '../../activities/index.js';
import { SEARCH_ATTRIBUTES } from '../../contract/orchestration.js';
import { withLock } from '../../engines/lock.js';
import { findPort } from '../../engines/ports.js';
import { endOf } from '../../engines/process.js';
import { run } from '../../engines/run.js';
import { DEFAULT_ENGINES_DIR, ensureVenv } from '../../engines/venv.js';
import { waitFor } from './waitFor.js';

const POM = fileURLToPath(new URL('../timeSkipping/pom.xml', import.meta.url));
const RUN_CHILD = fileURLToPath(new URL('../../engines/run_child.py', import.meta.url));
const FAMILY = 'time-skipping-';
const MAIN_CLASS = 'io.temporal.testserver.TestServer';
const NEEDS =
  "Temporal's time-skipping server is a Java program that Maven fetches: install Java 11 or newer and Maven " +
  '(apt-get install openjdk-17-jre-headless maven), then run this test again.';
/** temporal.api.enums.v1.IndexedValueType */
const KEYWORD = 2;

/** Says what to install where a program is missing. */
const orNeeds = (error: unknown): never => {
  throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Error(NEEDS, { cause: error }) : error;
};

/** The server and what it needs, as test/timeSkipping/pom.xml names them, fetched unless they are there. */
async function ensureJars(): Promise<string> {
  const hash = createHash('sha256')
    .update(await readFile(POM))
    .digest('hex');
  const folder = path.join(DEFAULT_ENGINES_DIR, FAMILY + hash.slice(0, 8));
  const isThere = (): Promise<boolean> =>
    stat(folder).then(
      () => true,
      () => false,
    );
  if (await isThere()) return folder;
  return withLock(
    path.join(DEFAULT_ENGINES_DIR, FAMILY),
    () => undefined,
    async () => {
      if (await isThere()) return folder;
      process.stderr.write("Fetching Temporal's time-skipping server (38 MB, once)\n");
      await mkdir(DEFAULT_ENGINES_DIR, { recursive: true });
      // Older ones and what a killed run left.
      const outdated = (await readdir(DEFAULT_ENGINES_DIR)).filter((name) => name.startsWith(FAMILY));
      await Promise.all(outdated.map((name) => rm(path.join(DEFAULT_ENGINES_DIR, name), { recursive: true })));
      const draft = await mkdtemp(path.join(DEFAULT_ENGINES_DIR, `${FAMILY}draft-`));
      // Strict about checksums.
      const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${draft}`];
      await run('mvn', ['-B', '-q', '-C', '-f', POM, ...copy]).catch(orNeeds);
      await rename(draft, folder);
      return folder;
    },
  );
}

/** Where Java is, which the launcher has to be told. */
const findJava = (): Promise<string> =>
  run('sh', ['-c', 'command -v java']).catch(() => Promise.reject(new Error(NEEDS)));

export interface TimeSkipping {
  readonly address: string;
  /** Puts the clocks of this process forward to the server's, before each activity and after `pass`. @param jumped told by how much */
  follow(activities: Activities, jumped?: (byMs: number) => Promise<void>): Activities;
  /** Lets time go by: from timer to timer at once, and not while anything is at work. */
  pass(ms: number): Promise<void>;
  /** Ends the server, and has this process keep real time again. */
  close(): Promise<void>;
}

/** Starts the server, its clock at rest: that is, as slow as any. @throws what to install */
export async function startTimeSkipping(): Promise<TimeSkipping> {
  const java = await findJava();
  const jars = await ensureJars();
  const { python } = await ensureVenv({ enginesDir: DEFAULT_ENGINES_DIR });
  const port = await findPort('free');
  const address = `127.0.0.1:${port}`;
  const options = ['-Xmx256m', '-XX:+UseSerialGC', '-cp', path.join(jars, '*')];
  const command = [RUN_CHILD, String(process.pid), java, ...options, MAIN_CLASS, String(port)];
  const child = spawn(python, command, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = endOf(child);
  const connecting: InternalConnectionOptions = {
    address,
    connectTimeout: 1_000,
    [InternalConnectionOptionsSymbol]: { supportsTestService: true },
  };
  const connect = (): Promise<Connection | null> => Connection.connect(connecting).catch(() => null);
  const connection = await Promise.race([
    waitFor(connect, (one) => one !== null),
    ended.then((how) => Promise.reject(new Error(`The time-skipping server ${how}. ${NEEDS}`))),
  ]);
  const server = connection?.testService;
  if (!connection || !server) throw new Error('The client knows no test service');
  const searchAttributes = Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, KEYWORD]));
  await connection.operatorService.addSearchAttributes({ namespace: 'default', searchAttributes });

  const clock = replaceClocks();
  const sync = async (jumped?: (byMs: number) => Promise<void>): Promise<void> => {
    const { time } = await server.getCurrentTime({});
    const jump = clock.putForwardTo(Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1e6);
    if (jump > 0) await jumped?.(jump);
  };
  let onJump: ((byMs: number) => Promise<void>) | undefined;
  let atWork = 0;
  return {
    address,
    follow(activities, jumped) {
      onJump = jumped;
      const following = Object.entries(activities as unknown as Record<string, (input: unknown) => unknown>).map(
        ([name, real]) => [
          name,
          async (input: unknown) => {
            atWork += 1;
            try {
              await sync(onJump);
              return await real(input);
            } finally {
              atWork -= 1;
            }
          },
        ],
      );
      return Object.fromEntries(following) as Activities;
    },
    async pass(ms) {
      await waitFor(
        () => atWork,
        (number) => number === 0,
      );
      const whole = Math.floor(ms / 1_000);
      const duration = { seconds: whole as never, nanos: (ms - whole * 1_000) * 1e6 };
      // No deadline of the client's: it would be reckoned by a clock that jumps.
      await connection.withDeadline(Infinity, () => server.unlockTimeSkippingWithSleep({ duration }));
      await sync(onJump);
    },
    async close() {
      clock.restore();
      await connection.close();
      child.kill();
      await ended;
    },
  };
}

/** What is less is the way of an answer here. */
const LEAST_JUMP_MS = 500;

/** Has this process's own clocks go ahead by as much as is said. What takes the time in the same process must not mind. */
function replaceClocks() {
  const Real = globalThis.Date;
  let ahead = 0;
  const now = (): number => Real.now() + ahead;
  // A proxy, so that whatever is a Date stays one.
  globalThis.Date = new Proxy(Real, {
    construct: (target, given, made) =>
      Reflect.construct(
        target,
        given.length === 0 ? [now()] : given,
        made === globalThis.Date ? target : made,
      ) as object,
    apply: () => new Real(now()).toString(),
    get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
  });
  const sinceStart = performance.now.bind(performance);
  performance.now = () => sinceStart() + ahead;
  return {
    /** @returns how far they had to be put forward */
    putForwardTo(time: number): number {
      const jump = Math.floor(time - now());
      if (jump < LEAST_JUMP_MS) return 0;
      ahead += jump;
      return jump;
    },
    restore(): void {
      globalThis.Date = Real;
      performance.now = sinceStart;
    },
  };
}
