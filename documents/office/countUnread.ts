import type { NotRead } from '../types.js';
import type { Package } from './openPackage.js';

/** Folders and names of the members of an Office file that no reader reads, by kind. */
const UNREAD_MEMBERS: ReadonlyArray<readonly [kind: string, member: RegExp]> = [
  ['pictures', /^(?:(?:word|ppt|xl)\/media|pictures)\/.*\.(?:png|jpe?g|gif|bmp|tiff?|emf|wmf|svg|wdp|webp)$/],
  ['recordings', /^(?:(?:word|ppt|xl)\/media|media|pictures)\/.*\.(?:mp3|m4a|wav|wma|aac|mp4|m4v|mov|avi|wmv|mpe?g)$/],
  ['embedded_files', /^(?:word|ppt|xl)\/embeddings\//],
  ['macros', /vbaproject\.bin$|^(?:basic|scripts)\/.+\/(?!script-lb\.xml$).+\.(?:xml|bas|py|js|bsh)$/],
];

/**
 * Counts the members of an Office file that were not read.
 * @param otherCounts numbers of further kinds, which may be zero
 * @returns undefined if everything was read
 */
export function countUnread(
  { archive }: Pick<Package, 'archive'>,
  otherCounts: Readonly<Record<string, number>> = {},
): NotRead | undefined {
  const counts: Record<string, number> = {};
  for (const name of archive.names) {
    const [kind] = UNREAD_MEMBERS.find(([, member]) => member.test(name)) ?? [];
    if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return foundOnly({ ...counts, ...otherCounts });
}

/** Removes kinds with the count 0; undefined if no kind is left. */
export function foundOnly(counts: Readonly<Record<string, number>>): NotRead | undefined {
  const found = Object.entries(counts).filter(([, count]) => count > 0);
  return found.length > 0 ? Object.fromEntries(found) : undefined;
}
