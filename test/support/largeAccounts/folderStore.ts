import { appendFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { BEGIN, type Checkpoint, type Figures, type ListedFile, noFigures, type SyncStore } from './sync.js';

/** Name of the log of listed files, in the order of the listing. */
export const LISTED = 'listed.log';
/** Name of the log of files whose content was read, in order. */
export const READ = 'read.log';
const CHECKPOINT = 'checkpoint.json';
/** The checkpoint is written whenever this number of further files has been read. */
const READ_BETWEEN = 100;

interface Stored extends Checkpoint {
  readonly figures: Figures;
}

/** Returns the lines of a log; none if it does not exist. */
export const linesOf = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];

/** Returns the last checkpoint of a sync in a folder; null if there is none. */
export function readCheckpoint(folder: string): Stored | null {
  const file = path.join(folder, CHECKPOINT);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Stored) : null;
}

/**
 * Creates a store in a folder, so that its state survives a crash of the process. Figures are stored with each
 * checkpoint.
 */
export function createFolderStore(folder: string): SyncStore & { readonly figures: Figures } {
  const stored = readCheckpoint(folder);
  const figures = stored?.figures ?? noFigures();
  let { progress, at }: Checkpoint = stored ?? { progress: BEGIN, at: 0 };
  let read = 0;
  const write = (): void => {
    const file = path.join(folder, CHECKPOINT);
    figures.memory = Math.max(figures.memory, process.resourceUsage().maxRSS / 1024);
    writeFileSync(`${file}.new`, JSON.stringify({ progress, at, figures }));
    renameSync(`${file}.new`, file);
  };
  return {
    figures,
    progress,
    add(files) {
      const lines = files.map(({ id, version }) => `${id}\t${version ?? ''}\n`);
      if (lines.length > 0) appendFileSync(path.join(folder, LISTED), lines.join(''));
    },
    save(checkpoint) {
      ({ progress, at } = checkpoint);
      write();
    },
    unread() {
      const readIds = new Set(linesOf(path.join(folder, READ)));
      const files = new Map<string, ListedFile>();
      for (const line of linesOf(path.join(folder, LISTED))) {
        const [id = '', version = ''] = line.split('\t');
        if (!readIds.has(id)) files.set(id, { id, version: version === '' ? null : version });
      }
      return [...files.values()];
    },
    markRead(id) {
      appendFileSync(path.join(folder, READ), `${id}\n`);
      read += 1;
      if (read % READ_BETWEEN === 0) write();
    },
  };
}
