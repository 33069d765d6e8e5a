import { decodedMappings, type SourceMapInput, TraceMap } from '@jridgewell/trace-mapping';

import type { SourceElements } from './sourceElements.js';

/** Compiled code with its source map. */
export interface CompiledCode {
  readonly map: SourceMapInput;
  /** Offset of each line's first character. */
  readonly lineStarts: readonly number[];
  /** The code, if it is available. */
  readonly text?: string;
}

/** Position of each span of a source in compiled code; -1 if the compiler removed it. */
export type Placement = Int32Array;

/** Creates compiled code from its text and source map. */
export function compiledCode(text: string, map: SourceMapInput): CompiledCode {
  return { text, map, lineStarts: lineStartsOf(text.split('\n').map(({ length }) => length)) };
}

/** Returns line offsets from line lengths, which exclude line ends. */
export function lineStartsOf(lengths: readonly number[]): readonly number[] {
  let next = 0;
  return lengths.map((length) => {
    const start = next;
    next += length + 1;
    return start;
  });
}

/**
 * Finds the spans of sources in compiled code by the first mapped position within each span.
 * @param elementsOf returns the spans of a source by its name in the map; null if the source is not counted
 */
export function placeSpans(
  { map, lineStarts, text = '' }: CompiledCode,
  elementsOf: (source: string) => { path: string; elements: SourceElements } | null,
): ReadonlyMap<string, Placement> {
  const traced = new TraceMap(map);
  const sources = traced.sources.map((source) => (source === null ? null : elementsOf(source)));
  const offsets = sources.map((): [original: number, compiled: number][] => []);
  for (const [line, segments] of decodedMappings(traced).entries()) {
    for (const [column, source, originalLine, originalColumn] of segments) {
      if (source === undefined || originalLine === undefined || originalColumn === undefined) continue;
      const originalStart = sources[source]?.elements.lineStarts[originalLine];
      if (originalStart === undefined) continue;
      offsets[source]?.push([originalStart + originalColumn, (lineStarts[line] ?? 0) + column]);
    }
  }
  const placements = new Map<string, Placement>();
  for (const [index, source] of sources.entries()) {
    if (!source) continue;
    const positions = (offsets[index] ?? []).toSorted(([a], [b]) => a - b);
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

/**
 * Returns the offset after white space: esbuild maps a statement to its indentation, which V8's range does not include.
 */
function skipSpace(text: string, from: number): number {
  let offset = from;
  while (/\s/.test(text.charAt(offset))) offset += 1;
  return offset;
}

/** Returns the first position not before `start`. The positions are sorted by original offset. */
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
