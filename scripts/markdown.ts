/** Checks of Markdown files: line length, and links and paths that resolve. */
import path from 'node:path';

/** Maximum length of a line in characters. Table rows and code may be longer. */
export const MAX_LINE = 120;

export interface Problem {
  /** Line of the file, from 1. */
  readonly line: number;
  readonly message: string;
}

interface Line {
  readonly line: number;
  readonly text: string;
}

/** Returns the lines of a Markdown file that are not in a code block. */
export function linesOutsideCode(source: string): Line[] {
  let fence: string | null = null;
  return source.split('\n').flatMap((text, index) => {
    const [marker] = /^\s*(?:`{3,}|~{3,})/.exec(text) ?? [];
    if (marker === undefined) return fence === null ? [{ line: index + 1, text }] : [];
    const fenced = marker.trim();
    if (fence === null) fence = fenced;
    else if (fenced.startsWith(fence)) fence = null;
    return [];
  });
}

/** Returns the lines that are longer than MAX_LINE, without code blocks and table rows. */
export function longLines(source: string): Problem[] {
  return linesOutsideCode(source)
    .filter(({ text }) => text.length > MAX_LINE && !text.trimStart().startsWith('|'))
    .map(({ line, text }) => ({ line, message: `${text.length} characters; at most ${MAX_LINE}` }));
}

/**
 * Returns the table rows that continue on the next line, and rows with another indentation than the row above.
 * Both end the table, and the list around it.
 */
export function brokenRows(source: string): Problem[] {
  const lines = linesOutsideCode(source);
  const isRow = (text: string): boolean => text.trimStart().startsWith('|');
  const indentOf = (text: string): number => text.length - text.trimStart().length;
  return lines.flatMap(({ line, text }, index) => {
    const above = lines[index - 1];
    if (!isRow(text)) return [];
    if (!text.trimEnd().endsWith('|')) return [{ line, message: 'a table row must end on its line' }];
    const isContinued = above?.line === line - 1 && isRow(above.text);
    return isContinued && indentOf(above.text) !== indentOf(text)
      ? [{ line, message: 'a table row must have the indentation of the row above' }]
      : [];
  });
}

/**
 * Returns the anchor that GitHub derives from a heading in Markdown, without the number that GitHub appends if the
 * heading occurs repeatedly. anchorsOf appends it.
 */
export const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

/** Returns the anchors of a Markdown file's headings, as GitHub derives them. */
export function anchorsOf(source: string): Set<string> {
  const anchors = new Set<string>();
  for (const { text } of linesOutsideCode(source)) {
    const [, heading] = /^#+\s+(.*)$/.exec(text) ?? [];
    if (heading === undefined) continue;
    const slug = slugOf(heading);
    let anchor = slug;
    for (let repeated = 1; anchors.has(anchor); repeated += 1) anchor = `${slug}-${repeated}`;
    anchors.add(anchor);
  }
  return anchors;
}

const LINK = /\]\(([^)\s]+)\)|^\[[^\]]+\]:\s+(\S+)/g;
const EXTERNAL = /^[a-z][a-z0-9+.-]*:/i;

/**
 * Returns the relative links of a Markdown file that lead to no file, or to no heading.
 * @param file path of the file from the project's root
 * @param read returns the text of a path, an empty text for a folder, and null if the path does not exist
 */
export function brokenLinks(file: string, source: string, read: (target: string) => string | null): Problem[] {
  return linesOutsideCode(source).flatMap(({ line, text }) =>
    [...text.replaceAll(/`[^`]*`/g, '').matchAll(LINK)].flatMap(([, inline, reference]) => {
      const link = inline ?? reference ?? '';
      if (EXTERNAL.test(link)) return [];
      const [target = '', anchor] = link.split('#', 2);
      const found = target === '' ? source : read(path.posix.join(path.posix.dirname(file), target));
      if (found === null) return [{ line, message: `${link} leads to no file` }];
      if (anchor !== undefined && !anchorsOf(found).has(anchor))
        return [{ line, message: `${link} leads to no heading` }];
      return [];
    }),
  );
}

/** A path of the project in prose: with a folder, and with an extension. */
const PATH = /(?<![\w/.<>{}*…-])((?:[\w-]+\/)+[\w.-]+\.(?:md|ts|cjs|mjs|py|yml|yaml|json|txt))(?![\w*{<])/g;

/**
 * Returns the paths in a text that do not exist in the project.
 * @param folders top-level folders of the project: other paths are ignored
 */
export function missingPaths(
  lines: readonly Line[],
  folders: ReadonlySet<string>,
  exists: (target: string) => boolean,
): Problem[] {
  return lines.flatMap(({ line, text }) =>
    // Targets of links are relative to their file: brokenLinks checks them.
    [...text.replaceAll(/\]\([^)]*\)/g, ']').matchAll(PATH)].flatMap(([, target = '']) =>
      folders.has(target.split('/', 1)[0] ?? '') && !exists(target)
        ? [{ line, message: `${target} does not exist` }]
        : [],
    ),
  );
}
