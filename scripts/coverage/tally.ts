import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { SourceMapInput } from '@jridgewell/trace-mapping';
import { transform } from 'esbuild';

import { type CompiledCode, compiledCode, lineStartsOf, type Placement, placeSpans } from './placement.js';
import { findElements, type SourceElements } from './sourceElements.js';
import { countsOf, type ScriptCoverage } from './v8Counts.js';

/** A report that Node writes with NODE_V8_COVERAGE: https://nodejs.org/api/cli.html#node_v8_coveragedir */
export interface V8Report {
  readonly result: readonly ScriptCoverage[];
  readonly 'source-map-cache'?: Readonly<
    Record<string, { readonly lineLengths: readonly number[]; readonly data: SourceMapInput | null }>
  >;
}

/** Compiles a TypeScript file as Jest does. @returns code that ends with its source map */
export type JestCompiler = (text: string, file: string) => string;

export interface FileCoverage {
  readonly path: string;
  readonly lines: { readonly total: number; readonly missed: readonly number[] };
  /** Missed branches are identified by the line of their decision. */
  readonly branches: { readonly total: number; readonly missed: readonly number[] };
}

export interface Tally {
  /** Marks the code that ran in one process or thread. */
  add(report: V8Report): void;
  /** Scripts that are not counted because their code could not be read, with the reason. */
  readonly unread: ReadonlyMap<string, string>;
  /** Returns the coverage of each source that has lines. */
  files(): readonly FileCoverage[];
}

interface Source {
  readonly elements: SourceElements;
  readonly spansRun: Uint8Array;
  readonly armsTaken: Uint8Array;
}

const BUNDLE = 'dist/workflow-bundle.js';
const INLINE_MAP = /\/\/# sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,([\w+/=]+)/g;

/**
 * Finds the lines and branches of the sources that ran according to any of several V8 reports. A source may be compiled
 * in several ways (dist/, the workflow bundle, Jest, tsx), so each report is mapped to the source.
 * @param root the project's folder
 * @param paths sources to count, relative to it
 */
export async function createTally(
  root: string,
  paths: readonly string[],
  compileLikeJest: JestCompiler,
): Promise<Tally> {
  const sources = new Map<string, Source>();
  for (const file of paths) sources.set(file, await readSource(root, file));
  const placed = new Map<string, ReadonlyMap<string, Placement>>();

  const elementsOf = (nameOrUrl: string) => {
    const file = nameOrUrl.startsWith('file:') ? fileURLToPath(nameOrUrl) : nameOrUrl;
    const relative = path.relative(root, file);
    const elements = sources.get(relative)?.elements;
    return elements ? { path: relative, elements } : null;
  };
  const place = (key: string, read: () => CompiledCode): ReadonlyMap<string, Placement> => {
    const placements = placed.get(key) ?? placeSpans(read(), elementsOf);
    placed.set(key, placements);
    return placements;
  };
  const placeScript = (url: string, report: V8Report): ReadonlyMap<string, Placement> | null => {
    const file = url.startsWith('file:') ? fileURLToPath(url) : url;
    const relative = path.relative(root, file);
    if (relative === BUNDLE) return place(relative, () => withInlineMap(readFileSync(file, 'utf8')));
    if (relative.startsWith(`dist${path.sep}`)) {
      if (!sources.has(relative.slice('dist/'.length).replace(/\.js$/, '.ts'))) return null;
      return place(relative, () => compiledFile(file));
    }
    if (!sources.has(relative)) return null;
    const cached = report['source-map-cache']?.[url];
    if (cached?.data) {
      const { data, lineLengths } = cached;
      return place(`tsx:${relative}`, () => ({ map: data, lineStarts: lineStartsOf(lineLengths) }));
    }
    return place(relative, () => withInlineMap(compileLikeJest(readFileSync(file, 'utf8'), file)));
  };

  const unread = new Map<string, string>();
  const placeReadable = (url: string, report: V8Report): ReadonlyMap<string, Placement> | null => {
    try {
      return placeScript(url, report);
    } catch (error) {
      unread.set(url, error instanceof Error ? error.message : String(error));
      return null;
    }
  };

  return {
    unread,
    add(report) {
      for (const script of report.result) {
        const placements = placeReadable(script.url, report);
        if (!placements) continue;
        const countAt = countsOf(script);
        const countAtOffset = (offset = -1): number | null => (offset < 0 ? null : countAt(offset));
        for (const [file, placement] of placements) {
          const source = sources.get(file);
          if (source) mark(source, (span) => countAtOffset(placement[span]));
        }
      }
    },
    files: () => [...sources].map(([file, source]) => coverageOf(file, source)).filter(({ lines }) => lines.total > 0),
  };
}

/** Reads a source and its elements, without those for which esbuild generates no code, such as types. */
async function readSource(root: string, file: string): Promise<Source> {
  const text = readFileSync(path.join(root, file), 'utf8');
  const allElements = findElements(file, text);
  const { code, map } = await transform(text, {
    loader: 'ts',
    format: 'esm',
    target: 'node20',
    sourcefile: file,
    sourcemap: 'external',
  });
  const placement = placeSpans(compiledCode(code, map), () => ({
    path: file,
    elements: allElements,
  })).get(file);
  const isCompiled = (span: number): boolean => (placement?.[span] ?? -1) >= 0;
  const lines = [...allElements.lines].map(([line, spans]) => [line, spans.filter(isCompiled)] as const);
  const arms = allElements.arms.filter(
    ({ span, skipped }) => isCompiled(span) && (skipped === undefined || isCompiled(skipped)),
  );
  const elements = { ...allElements, arms, lines: new Map(lines.filter(([, spans]) => spans.length > 0)) };
  return { elements, spansRun: new Uint8Array(allElements.spans.length), armsTaken: new Uint8Array(arms.length) };
}

/** Marks what ran. @param countOf returns how often a span ran; null if this compiled code does not contain it */
function mark({ elements, spansRun, armsTaken }: Source, countOf: (span: number) => number | null): void {
  const limits: number[] = [];
  const counts = elements.spans.map(({ limit }, span) => {
    const max = limit === undefined ? Infinity : (limits[limit] ?? Infinity);
    const counted = countOf(span);
    limits.push(Math.min(counted ?? Infinity, max));
    const count = Math.min(counted ?? 0, max);
    if (count > 0) spansRun[span] = 1;
    return count;
  });
  for (const [index, { span, skipped }] of elements.arms.entries())
    if ((counts[span] ?? 0) > (skipped === undefined ? 0 : (counts[skipped] ?? 0))) armsTaken[index] = 1;
}

function coverageOf(file: string, { elements, spansRun, armsTaken }: Source): FileCoverage {
  const missedLines = [...elements.lines].filter(([, spans]) => !spans.some((span) => spansRun[span] === 1));
  const missedArms = elements.arms.filter((_, index) => armsTaken[index] !== 1);
  return {
    path: file,
    lines: { total: elements.lines.size, missed: missedLines.map(([line]) => line).toSorted((a, b) => a - b) },
    branches: { total: elements.arms.length, missed: missedArms.map(({ line }) => line).toSorted((a, b) => a - b) },
  };
}

function compiledFile(file: string): CompiledCode {
  // Source paths are relative to the map.
  const map = JSON.parse(readFileSync(`${file}.map`, 'utf8')) as { sources: string[] };
  const sources = map.sources.map((source) => pathToFileURL(path.resolve(path.dirname(file), source)).href);
  return compiledCode(readFileSync(file, 'utf8'), { ...map, sources } as SourceMapInput);
}

function withInlineMap(code: string): CompiledCode {
  const encoded = [...code.matchAll(INLINE_MAP)].at(-1)?.[1];
  if (encoded === undefined) throw new Error('The compiled code has no source map.');
  return compiledCode(code, Buffer.from(encoded, 'base64').toString());
}

/** Returns the compiler of a Jest configuration for files that Jest loads as ES modules. */
export function jestCompiler(config: { transform: Readonly<Record<string, unknown>> }): JestCompiler {
  const entry = Object.values(config.transform).find(
    (candidate) => Array.isArray(candidate) && candidate[0] === '@swc/jest',
  ) as [string, object] | undefined;
  const { createTransformer } = createRequire(import.meta.url)('@swc/jest') as {
    createTransformer(options?: object): {
      process(text: string, file: string, jest: object): { code: string };
    };
  };
  const compiler = createTransformer(entry?.[1]);
  return (text, file) => compiler.process(text, file, { supportsStaticESM: true, config: {}, instrument: false }).code;
}
