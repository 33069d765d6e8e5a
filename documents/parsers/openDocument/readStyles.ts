import { readXml } from '../../office/readXml.js';
import type { DocumentLimits } from '../../types.js';

/** The marking of one level of a list. */
export interface ListLevel {
  /** Format of the number by its name in Word; null for bullets and levels without visible numbers. */
  readonly format: string | null;
  /** The mark with `%1%` to `%10%` for the numbers of the levels, such as `%1%.%2%`. */
  readonly text: string;
  /** Number of the first item. */
  readonly start: number;
}

/** The properties of a document's styles that the readers need. */
export interface Styles {
  /** Returns the marking of a level, from 1; bullets for an unknown list. */
  levelOf(list: string | null, level: number): ListLevel;
  /** Whether a paragraph has the style of the document's title, or one that is based on it. */
  isTitle(paragraph: string | null): boolean;
  /** Whether the style hides a sheet. */
  isHidden(table: string | null): boolean;
}

const BULLETS: ListLevel = { format: null, text: '', start: 1 };

/** Word's names of the formats of OpenDocument (version 1.3, part 3, 19.506); others become decimal numbers. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ['a', 'lowerLetter'],
  ['A', 'upperLetter'],
  ['i', 'lowerRoman'],
  ['I', 'upperRoman'],
]);

/** Maximum length of a mark in UTF-16 units; every item repeats it, so a longer one could inflate the text. */
const MAX_MARK = 100;

/** Maximum number of steps from a style to the one that it is based on: chains in hostile files may be cyclic. */
const MAX_STEPS = 20;

/** Reads the styles of the shared part and of the content itself. */
export function readStyles(parts: readonly Uint8Array[], limits: DocumentLimits): Styles {
  const levels = new Map<string, ListLevel>();
  const parents = new Map<string, string>();
  const hidden = new Set<string>();
  for (const part of parts) readPart(part, limits, levels, parents, hidden);
  return {
    levelOf: (list, level) => levels.get(`${level} ${list ?? ''}`) ?? BULLETS,
    isTitle(paragraph) {
      let style = paragraph ?? undefined;
      for (let steps = 0; style !== undefined && steps < MAX_STEPS; steps++) {
        // Built-in styles have English names in the file, regardless of the program's language.
        if (style === 'Title') return true;
        style = parents.get(style);
      }
      return false;
    },
    isHidden: (table) => hidden.has(table ?? ''),
  };
}

function readPart(
  part: Uint8Array,
  limits: DocumentLimits,
  levels: Map<string, ListLevel>,
  parents: Map<string, string>,
  hidden: Set<string>,
): void {
  let list: string | null = null;
  let [style, family] = ['', ''];
  readXml(part, limits, {
    open(name, attributes) {
      if (name === 'list-style') list = attributes['name'] ?? '';
      else if (name === 'style') {
        [style, family] = [attributes['name'] ?? '', attributes['family'] ?? ''];
        const parent = attributes['parent-style-name'];
        if (family === 'paragraph' && parent !== undefined) parents.set(style, parent);
      } else if (name === 'table-properties' && family === 'table' && attributes['display'] === 'false')
        hidden.add(style);
      else if (name === 'list-level-style-number' && list !== null) {
        levels.set(`${attributes['level'] ?? '1'} ${list}`, listLevel(attributes));
      }
    },
    close(name) {
      if (name === 'list-style') list = null;
    },
  });
}

function listLevel(attributes: Readonly<Record<string, string>>): ListLevel {
  const shown = attributes['num-format'] ?? '';
  const level = Number(attributes['level'] ?? 1) || 1;
  const first = Math.max(1, level + 1 - (Number(attributes['display-levels'] ?? 1) || 1));
  const numbers = Array.from({ length: Math.min(10, level + 1 - first) }, (_, nth) => `%${first + nth}%`);
  // A number alone gets the point of Markdown.
  const suffix = attributes['num-suffix'] ?? (shown === '1' && numbers.length === 1 ? '.' : '');
  const text = `${attributes['num-prefix'] ?? ''}${numbers.join('.')}${suffix}`;
  return {
    format: shown === '' ? null : (FORMATS.get(shown) ?? 'decimal'),
    // LibreOffice writes the whole mark as well, in which other characters may separate the levels.
    text: (attributes['num-list-format'] ?? text).slice(0, MAX_MARK),
    start: Number(attributes['start-value'] ?? 1) || 1,
  };
}
