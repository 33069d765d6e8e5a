/** The folder of recordings that tests replay. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { ConnectedSourceType } from '../../contract/sources/connectedSources.js';
import type { Recording } from './fixture.js';

/** Relative to the root of the repository. */
export const RECORDINGS = 'test/fixtures/recordings';

/** Returns the file of a source's recording, relative to the root of the repository. */
export const fileOf = (source: ConnectedSourceType): string =>
  `${RECORDINGS}/${source.toLowerCase().replaceAll('_', '-')}.json`;

/** Returns the recordings in a folder by file name. */
export function readRecordings(folder: string): ReadonlyMap<string, Recording> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return new Map(
    names.toSorted().map((name) => [name, JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as Recording]),
  );
}
