import { readXml } from '../../office/readXml.js';
import type { DocumentLimits } from '../../types.js';

/** The marking of one level of a list. */
export interface ListLevel {
  readonly isNumbered: boolean;
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

const BULLETS: ListLevel = { isNumbered: false, start: 1 };

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
        // A level without a format has no visible numbers.
        const isNumbered = (attributes['num-format'] ?? '') !== '';
        const start = Number(attributes['start-value'] ?? 1) || 1;
        levels.set(`${attributes['level'] ?? '1'} ${list}`, { isNumbered, start });
      }
    },
    close(name) {
      if (name === 'list-style') list = null;
    },
  });
}
