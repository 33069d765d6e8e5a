import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Addresses and files of the embedded engines, by name. */
export type EmbeddedEngines = Readonly<Record<string, string>>;

/**
 * Returns the settings of the embedded engines, as engines/start.ts wrote them; empty if none run with this folder.
 * After a crash the file remains, so the settings may be those of engines that have ended.
 */
export function readEmbeddedEngines(dataDir: string): EmbeddedEngines {
  const file = path.join(dataDir, 'engines.json');
  if (!existsSync(file)) return {};
  const found: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return typeof found === 'object' && found !== null ? (found as EmbeddedEngines) : {};
}
