import { decodedMappings, type SourceMapInput, TraceMap } from '@jridgewell/trace-mapping';

import type { SourceElements } from './sourceElements.js';

/** Code that a compiler made, and the way back to its sources. */
export interface CompiledCode {
  readonly map: SourceMapInput;
  /** Offset of each line's first character. */
  readonly lineStarts: readonly number[];
  /** Its text, where that is known. */
  readonly text?: string;
}

/** Where each span of a source begins in compiled code; -1 where the compiler left nothing of it. */
export type Placement = Int32Array;

/** Code whose text is at hand. */
export function compiledCode(text: string, map: SourceMapInput): CompiledCode {
  return { text, map, lineStarts: lineStartsOf(text.split('\n').map(({ length }) => length)) };
}

/** Offsets of the lines of `lengths` characters, line ends not counted. */
export function lineStartsOf(lengths: readonly number[]): readonly number[] {
  let next = 0;
  return lengths.map((length) => {
    const start = next;
    next += length + 1;
    return start;
  });
}

/**
 * Finds the spans of sources in compiled code. A span is found by the first position within it that the map knows.
 * @param elementsOf gives the spans of a source by its name in the map; null for one that is not counted
 */
export function placeSpans(
  { map, lineStarts, text = '' }: CompiledCode,
  elementsOf: (source: string) => { path: string; elements: SourceElements } | null,
): ReadonlyMap<string, Placement> {
  const traced = new TraceMap(map);
  const sources = traced.sources.map((source) => (source === null ? null : elementsOf(source)));
  const known = sources.map((): [original: number, compiled: number][] => []);
  for (const [line, segments] of decodedMappings(traced).entries()) {
    for (const [column, source, originalLine, originalColumn] of segments) {
      if (source === undefined || originalLine === undefined || originalColumn === undefined) continue;
      const originalStart = sources[source]?.elements.lineStarts[originalLine];
      if (originalStart === undefined) continue;
      known[source]?.push([originalStart + originalColumn, (lineStarts[line] ?? 0) + column]);
    }
  }
  const placements = new Map<string, Placement>();
  for (const [index, source] of sources.entries()) {
    if (!source) continue;
    const positions = (known[index] ?? []).toSorted(([a], [b]) => a - b);
    placements.set(
      source.path,
      Int32Array.from(source.elements.spans, ({ start, end }) => {
        const [original, compiled] = firstFrom(positions, start);
        return original < end ? skipSpace(text, compiled) : -1;
      }),
    );
  }
  return placements;
}

/** esbuild places a statement before its indentation, where the range of V8 does not begin yet. */
function skipSpace(text: string, from: number): number {
  let offset = from;
  while (/\s/.test(text.charAt(offset))) offset += 1;
  return offset;
}

/** The first of the positions, ascending by their original, that is not before `start`. */
function firstFrom(
  positions: readonly [original: number, compiled: number][],
  start: number,
): readonly [original: number, compiled: number] {
  let [low, high] = [0, positions.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((positions[middle]?.[0] ?? Infinity) < start) low = middle + 1;
    else high = middle;
  }
  return positions[low] ?? [Infinity, -1];
}
