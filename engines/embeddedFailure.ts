/**
 * Finds out why an embedded engine does not respond, from the state that `npm start` records and from the engine's
 * process.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { EngineName } from './engine.js';
import type { DownEngine } from './keepRunning.js';
import { processState } from './pidFile.js';

export interface EmbeddedFailure {
  /** The problem. It contains no path and no log line: /ready shows it to callers without a key. */
  readonly found: string;
  readonly fix: string;
  /** The cause of the last failed start, with lines of the engine's log; null if none was recorded. */
  readonly detail: string | null;
}

interface RecordedEngine {
  readonly name: string;
  readonly pid: number;
  readonly down?: DownEngine;
}

const TITLES: Readonly<Record<EngineName, string>> = { mongodb: 'MongoDB', qdrant: 'Qdrant', temporal: 'Temporal' };
/** States in proc(5) of a process that a signal or a debugger stopped. */
const STOPPED_STATES = ['T', 't'];

/** Shortens an ISO 8601 time to seconds. */
const formatTime = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`;

function describeDown(name: EngineName, down: DownEngine): EmbeddedFailure {
  const starts = `${down.attempts} failed ${down.attempts === 1 ? 'start' : 'starts'} since`;
  const why = down.isDiskFull ? 'its disk is full' : `it ${down.how}`;
  return {
    found: `The embedded ${TITLES[name]} has been down since ${formatTime(down.since)}: ${why}, ${starts}`,
    fix: down.isDiskFull
      ? 'Free some space; npm start starts it again within 30 s'
      : `npm start tries again after at most 30 s. See DATA_DIR/logs/${name}.log`,
    detail: down.cause,
  };
}

/**
 * Describes an embedded engine that does not respond.
 * @returns null if the engine does not belong to this data folder, or nothing is known about it
 */
export async function findEmbeddedFailure(dataDir: string, name: EngineName): Promise<EmbeddedFailure | null> {
  const engine = await readFile(join(dataDir, 'engines.json'), 'utf8')
    .then((text) => (JSON.parse(text) as { engines?: readonly RecordedEngine[] }).engines)
    .then((engines) => engines?.find((recorded) => recorded.name === name))
    .catch(() => undefined);
  if (!engine) return null;
  if (engine.down) return describeDown(name, engine.down);
  const state = await processState(engine.pid);
  if (state === null) return null;
  const which = `The embedded ${TITLES[name]} (process ${engine.pid})`;
  return STOPPED_STATES.includes(state)
    ? {
        found: `${which} was stopped by a signal and does not answer`,
        fix: `Continue it: kill -CONT ${engine.pid}. If that does not help, kill -KILL ${engine.pid}: npm start starts it again`,
        detail: null,
      }
    : {
        found: `${which} runs but does not answer`,
        fix: `See DATA_DIR/logs/${name}.log. If that does not change, kill -KILL ${engine.pid}: npm start starts it again`,
        detail: null,
      };
}
