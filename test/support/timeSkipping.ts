/** Temporal's time-skipping test server, and clocks of this process that follow it. A wait of days takes seconds. */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Connection } from '@temporalio/client';
import { type InternalConnectionOptions, InternalConnectionOptionsSymbol } from '@temporalio/client/lib/connection.js';

import type { Activities } from '../../activities/index.js';
import { SEARCH_ATTRIBUTES } from '../../contract/runs/workflowIds.js';
import { findPort } from '../../engines/ports.js';
import { endOf } from '../../engines/process.js';
import { DEFAULT_ENGINES_DIR, ensureVenv } from '../../engines/venv.js';
import { fetchedJars, findJava } from './java.js';
import './product.js';
import { waitFor } from './waitFor.js';

const POM = fileURLToPath(new URL('../timeSkipping/pom.xml', import.meta.url));
const RUN_CHILD = fileURLToPath(new URL('../../engines/run_child.py', import.meta.url));
const MAIN_CLASS = 'io.temporal.testserver.TestServer';
const NEEDS =
  "Temporal's time-skipping server is a Java program that Maven fetches: install Java 11 or newer and Maven " +
  '(apt-get install openjdk-17-jre-headless maven), then run this test again.';
/** temporal.api.enums.v1.IndexedValueType */
const KEYWORD = 2;

/** Downloads the server and its dependencies, as listed in test/timeSkipping/pom.xml, unless they are present. */
const ensureJars = (): Promise<string> =>
  fetchedJars({ family: 'time-skipping-', pom: POM, label: "Temporal's time-skipping server (38 MB)", needs: NEEDS });

export interface TimeSkipping {
  readonly address: string;
  /**
   * Returns the activities, wrapped so that the clocks of this process advance to the server's time before each
   * activity and after `advance`.
   * @param jumped called after each jump with its length in milliseconds
   */
  follow(activities: Activities, jumped?: (byMs: number) => Promise<void>): Activities;
  /**
   * Waits until no activity is running, then advances the server's time by `ms` milliseconds. The server jumps from one
   * timer to the next, and does not skip time while an activity is running.
   */
  advance(ms: number): Promise<void>;
  /** Stops the server and restores the real clocks of this process. */
  close(): Promise<void>;
}

/**
 * Starts the server without time skipping: its clock runs at normal speed. @throws an error that names what to install
 */
export async function startTimeSkipping(): Promise<TimeSkipping> {
  const java = await findJava(NEEDS);
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
    waitFor(connect, (established) => established !== null),
    ended.then((how) => Promise.reject(new Error(`The time-skipping server ${how}. ${NEEDS}`))),
  ]);
  const server = connection?.testService;
  if (!connection || !server) throw new Error('The client offers no test service');
  const searchAttributes = Object.fromEntries(SEARCH_ATTRIBUTES.map((name) => [name, KEYWORD]));
  await connection.operatorService.addSearchAttributes({ namespace: 'default', searchAttributes });

  const clock = replaceClocks();
  const sync = async (jumped?: (byMs: number) => Promise<void>): Promise<void> => {
    const { time } = await server.getCurrentTime({});
    const jump = clock.advanceTo(Number(time?.seconds ?? 0) * 1_000 + (time?.nanos ?? 0) / 1e6);
    if (jump > 0) await jumped?.(jump);
  };
  let onJump: ((byMs: number) => Promise<void>) | undefined;
  let running = 0;
  return {
    address,
    follow(activities, jumped) {
      onJump = jumped;
      const following = Object.entries(activities as unknown as Record<string, (input: unknown) => unknown>).map(
        ([name, real]) => [
          name,
          async (input: unknown) => {
            running += 1;
            try {
              await sync(onJump);
              return await real(input);
            } finally {
              running -= 1;
            }
          },
        ],
      );
      return Object.fromEntries(following) as Activities;
    },
    async advance(ms) {
      await waitFor(
        () => running,
        (number) => number === 0,
      );
      const whole = Math.floor(ms / 1_000);
      const duration = { seconds: whole as never, nanos: (ms - whole * 1_000) * 1e6 };
      // No client deadline: it would be computed from a clock that jumps.
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

/** Smaller differences between the clocks, in milliseconds, are network latency and cause no jump. */
const MIN_JUMP_MS = 500;

/**
 * Replaces the clocks of this process with clocks that can be advanced. Code that measures time in this process must
 * tolerate the jumps.
 */
function replaceClocks() {
  let aheadMs = 0;
  const globals = [globalThis, globalThis.globalOfNode];
  const restoreDates = globals.map((scope) => {
    const Real = scope.Date;
    const now = (): number => Real.now() + aheadMs;
    // A proxy, so that `instanceof Date` keeps working.
    scope.Date = new Proxy(Real, {
      construct: (target, args, newTarget) =>
        Reflect.construct(
          target,
          args.length === 0 ? [now()] : args,
          newTarget === scope.Date ? target : newTarget,
        ) as object,
      apply: () => new Real(now()).toString(),
      get: (target, name) => (name === 'now' ? now : (Reflect.get(target, name) as unknown)),
    });
    return () => {
      scope.Date = Real;
    };
  });
  const restoreTimers = [...new Set(globals.map((scope) => scope.performance))].map((timer) => {
    const sinceStart = timer.now.bind(timer);
    timer.now = () => sinceStart() + aheadMs;
    return () => {
      timer.now = sinceStart;
    };
  });
  return {
    /** Advances the clocks. @returns the length of the jump in milliseconds */
    advanceTo(time: number): number {
      const jump = Math.floor(time - Date.now());
      if (jump < MIN_JUMP_MS) return 0;
      aheadMs += jump;
      return jump;
    },
    restore(): void {
      for (const restore of [...restoreDates, ...restoreTimers]) restore();
    },
  };
}
