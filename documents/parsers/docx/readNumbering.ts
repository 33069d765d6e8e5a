import { readXml } from '../../office/readXml.js';
import type { DocumentLimits } from '../../types.js';

/** The marking of one level of a list. */
export interface ListLevel {
  /** Lists with the same name continue each other's numbering. */
  readonly list: string;
  /** Format of the number, such as `decimal`; null for a bullet, or if the file does not define the level. */
  readonly format: string | null;
  /** The mark with `%1` to `%9` for the numbers of the levels, such as `%1.%2`; null if the file does not define it. */
  readonly text: string | null;
  /** The number of the first item. */
  readonly start: number;
  /** The number of levels, from the first, whose items restart this one; 0: it never restarts. */
  readonly restartsBelow: number;
  /** Whether the mark shows the numbers of all levels as decimal numbers. */
  readonly isLegal: boolean;
  /** The paragraph style of this level; null for none. */
  readonly style: string | null;
  /** The number of the first item if this list restarts its numbering; otherwise null. */
  readonly restartsAt: number | null;
}

type Definition = Omit<ListLevel, 'list' | 'restartsAt'>;

/** Number of levels of a list. */
export const LIST_LEVELS = 9;

/** Maximum length of a mark in UTF-16 units; every item repeats it, so a longer one could inflate the text. */
const MAX_MARK = 100;

interface AbstractList {
  readonly levels: Map<number, Definition>;
  /** A style by which another list refers to this one. */
  style: string | null;
  /** The style of the list whose levels this list has. */
  linked: string | null;
}

interface OwnList {
  readonly abstract: string;
  readonly levels: Map<number, Definition>;
  readonly starts: Map<number, number>;
}

/** Reads the levels of all lists, by `numId:level`. ECMA-376, part 1, 17.9. */
export function readNumbering(part: Uint8Array, limits: DocumentLimits): Map<string, ListLevel> {
  const abstracts = new Map<string, AbstractList>();
  const lists = new Map<string, OwnList>();
  let abstract: AbstractList | null = null;
  let ownList: OwnList | null = null;
  let numId = '';
  let level = 0;
  const set = (changes: Partial<Definition>): void => {
    const levels = ownList?.levels ?? abstract?.levels;
    levels?.set(level, { ...(levels.get(level) ?? undefinedLevel(level)), ...changes });
  };
  readXml(part, limits, {
    open(element, { val, abstractNumId, ilvl, numId: id }) {
      if (element === 'abstractNum') {
        abstract = { levels: new Map(), style: null, linked: null };
        abstracts.set(abstractNumId ?? '', abstract);
        ownList = null;
      } else if (element === 'num') [numId, abstract, ownList] = [id ?? '', null, null];
      else if (element === 'abstractNumId' && val !== undefined) {
        ownList = { abstract: val, levels: new Map(), starts: new Map() };
        lists.set(numId, ownList);
      } else if (element === 'styleLink' && abstract) abstract.style = val ?? null;
      else if (element === 'numStyleLink' && abstract) abstract.linked = val ?? null;
      else if (element === 'lvlOverride') level = Number(ilvl ?? 0);
      else if (element === 'startOverride') ownList?.starts.set(level, Number(val ?? 1) || 0);
      else if (element === 'lvl') {
        level = Number(ilvl ?? level);
        // A level without a format has decimal numbers.
        set({ ...undefinedLevel(level), format: 'decimal' });
      } else if (element === 'start') set({ start: Number(val ?? 0) || 0 });
      else if (element === 'numFmt') set({ format: val === undefined || val === 'bullet' ? null : val });
      else if (element === 'lvlText') set({ text: (val ?? '').slice(0, MAX_MARK) });
      else if (element === 'pStyle') set({ style: val ?? null });
      else if (element === 'isLgl') set({ isLegal: val === undefined || !/^(?:0|false|off)$/.test(val) });
      // A value above this level counts as the default: items of every higher level in the list restart this one.
      else if (element === 'lvlRestart') set({ restartsBelow: Math.min(level, Number(val ?? level) || 0) });
    },
  });
  const linkedTo = (style: string | null): AbstractList | undefined =>
    style === null ? undefined : [...abstracts.values()].find((candidate) => candidate.style === style);
  const result = new Map<string, ListLevel>();
  for (const [id, { abstract: name, levels, starts }] of lists) {
    const found = abstracts.get(name);
    const all = new Map([...(found?.levels ?? []), ...(linkedTo(found?.linked ?? null)?.levels ?? []), ...levels]);
    for (const [nth, definition] of all)
      result.set(`${id}:${nth}`, { ...definition, list: name, restartsAt: starts.get(nth) ?? null });
  }
  return result;
}

/**
 * Returns the defaults of a level. Its first number is 1: the standard's default is 0, which is hardly intended by a
 * list that does not state it.
 */
export const undefinedLevel = (level: number): Definition => ({
  ...{ format: null, text: null, start: 1, restartsBelow: level, isLegal: false, style: null },
});
