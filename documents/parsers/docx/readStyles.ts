import type { Package, Relation } from '../../office/openPackage.js';
import { readXml } from '../../office/readXml.js';
import type { DocumentLimits } from '../../types.js';

/** The list of a paragraph, by its style or its own properties. */
export interface ListPlace {
  readonly numId: string;
  readonly level: number;
}

export interface Styles {
  /** Returns the rank (1 to 6) of a heading style; null for others. */
  headingOf(styleId: string | null): number | null;
  listOf(styleId: string | null): ListPlace | null;
  levelOf(place: ListPlace): ListLevel;
}

/** The marking of one level of a list. */
export interface ListLevel {
  /** Lists with the same name continue each other's numbering. */
  readonly list: string;
  readonly isNumbered: boolean;
  /** The number of the first item if this list restarts its numbering; otherwise null. */
  readonly restartsAt: number | null;
}

interface Style {
  name: string;
  parent: string | null;
  outline: number | null;
  numId: string | null;
  level: number;
}

/** Reads the styles and lists of a text document. A document without the part has none. */
export async function readStyles(
  { archive }: Package,
  relations: ReadonlyMap<string, Relation>,
  limits: DocumentLimits,
): Promise<Styles> {
  const partOf = async (type: string): Promise<Buffer | null> => {
    const target = [...relations.values()].find((relation) => relation.type === type && !relation.external)?.target;
    return target !== undefined && archive.has(target) ? archive.read(target) : null;
  };
  const styles = new Map<string, Style>();
  const stylesPart = await partOf('styles');
  if (stylesPart) readStyleList(stylesPart, limits, styles);
  const levels = new Map<string, ListLevel>();
  const numberingPart = await partOf('numbering');
  if (numberingPart) readNumbering(numberingPart, limits, levels);

  /** Returns the first value in the chain of base styles. Forged chains may contain loops. */
  const inherited = <Value>(styleId: string | null, read: (style: Style) => Value | null): Value | null => {
    let style = styles.get(styleId ?? '');
    for (let steps = 0; style !== undefined && steps < 20; steps++) {
      const value = read(style);
      if (value !== null) return value;
      style = styles.get(style.parent ?? '');
    }
    return null;
  };
  return {
    headingOf: (styleId) => inherited(styleId, headingRank) ?? (styles.size === 0 ? rankOfName(styleId ?? '') : null),
    listOf: (styleId) => inherited(styleId, ({ numId, level }) => (numId === null ? null : { numId, level })),
    levelOf: ({ numId, level }) =>
      levels.get(`${numId}:${level}`) ?? { list: numId, isNumbered: false, restartsAt: null },
  };
}

function headingRank({ name, outline }: Style): number | null {
  const named = rankOfName(name);
  if (named !== null) return named;
  return outline !== null && outline < 6 ? outline + 1 : null;
}

/**
 * Returns the rank of a built-in heading style; null for other names. Files contain the English names in every language
 * of the program.
 */
function rankOfName(name: string): number | null {
  const rank = /^heading ?([1-9])$/i.exec(name)?.[1];
  if (rank !== undefined) return Math.min(6, Number(rank));
  return /^title$/i.test(name) ? 1 : null;
}

function readStyleList(part: Buffer, limits: DocumentLimits, styles: Map<string, Style>): void {
  let style: Style | null = null;
  readXml(part, limits, {
    open(element, { val, styleId, type }) {
      if (element === 'style' && styleId !== undefined && (type ?? 'paragraph') === 'paragraph') {
        style = { name: '', parent: null, outline: null, numId: null, level: 0 };
        styles.set(styleId, style);
      } else if (element === 'style') style = null;
      if (style === null || val === undefined) return;
      if (element === 'name') style.name = val;
      else if (element === 'basedOn') style.parent = val;
      else if (element === 'outlineLvl') style.outline = Number(val);
      else if (element === 'numId') style.numId = val;
      else if (element === 'ilvl') style.level = Number(val);
    },
  });
}

/** Reads the levels of all lists, by `numId:level`. */
function readNumbering(part: Buffer, limits: DocumentLimits, levels: Map<string, ListLevel>): void {
  const numbered = new Map<string, Map<number, boolean>>();
  let abstract: Map<number, boolean> | null = null;
  let level = 0;
  let numId: string | null = null;
  readXml(part, limits, {
    open(element, { val, abstractNumId, ilvl, numId: id }) {
      if (element === 'abstractNum') numbered.set(abstractNumId ?? '', (abstract = new Map()));
      else if (element === 'num') {
        numId = id ?? null;
        abstract = null;
      } else if (element === 'lvl' || element === 'lvlOverride') level = Number(ilvl ?? 0);
      else if (element === 'numFmt') abstract?.set(level, val !== 'bullet' && val !== 'none');
      else if (element === 'abstractNumId' && val !== undefined)
        for (const [one, isNumbered] of numbered.get(val) ?? [])
          levels.set(`${numId ?? ''}:${one}`, { list: val, isNumbered, restartsAt: null });
      else if (element === 'startOverride') {
        const known = levels.get(`${numId ?? ''}:${level}`);
        if (known) levels.set(`${numId ?? ''}:${level}`, { ...known, restartsAt: Number(val ?? 1) || 0 });
      }
    },
  });
}
