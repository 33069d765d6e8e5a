import type { Package, Relation } from '../../office/openPackage.js';
import { readXml } from '../../office/readXml.js';
import type { DocumentLimits } from '../../types.js';
import { LIST_LEVELS, type ListLevel, readNumbering, undefinedLevel } from './readNumbering.js';

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

interface Style {
  name: string;
  parent: string | null;
  outline: number | null;
  numId: string | null;
  level: number | null;
}

/** Reads the styles and lists of a text document from the parts `styles` and `numbering`. Both parts are optional. */
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
  const numberingPart = await partOf('numbering');
  const levels = numberingPart ? readNumbering(numberingPart, limits) : new Map<string, ListLevel>();

  /** Returns the first value in the chain of base styles. Chains in hostile files may be cyclic. */
  const inherited = <Value>(styleId: string | null, read: (style: Style, id: string) => Value | null): Value | null => {
    let id = styleId ?? '';
    for (let steps = 0; steps < 20; steps++) {
      const style = styles.get(id);
      if (style === undefined) return null;
      const value = read(style, id);
      if (value !== null) return value;
      id = style.parent ?? '';
    }
    return null;
  };
  /** Returns the level of a list that is bound to a style. */
  const boundLevel = (numId: string, styleId: string): number =>
    Array.from({ length: LIST_LEVELS }, (_, level) => level).find(
      (level) => levels.get(`${numId}:${level}`)?.style === styleId,
    ) ?? 0;
  return {
    headingOf: (styleId) => inherited(styleId, headingRank) ?? (styles.size === 0 ? rankOfName(styleId ?? '') : null),
    listOf: (styleId) =>
      inherited(styleId, ({ numId, level }, id) =>
        numId === null ? null : { numId, level: level ?? boundLevel(numId, id) },
      ),
    levelOf: ({ numId, level }) =>
      levels.get(`${numId}:${level}`) ?? { ...undefinedLevel(level), list: numId, restartsAt: null },
  };
}

function headingRank({ name, outline }: Style): number | null {
  const rank = rankOfName(name);
  if (rank !== null) return rank;
  return outline !== null && outline < 6 ? outline + 1 : null;
}

/**
 * Returns the rank of a built-in heading style; null for other names. Files contain the English names, regardless of
 * the program's language.
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
        style = { name: '', parent: null, outline: null, numId: null, level: null };
        styles.set(styleId, style);
      } else if (element === 'style') style = null;
      if (style === null || val === undefined) return;
      if (element === 'name') style.name = val;
      else if (element === 'basedOn') style.parent = val;
      else if (element === 'outlineLvl') style.outline = Number(val);
      else if (element === 'numId') style.numId = val;
      else if (element === 'ilvl') style.level = levelOf(val);
    },
  });
}

/** Reads a level of a list, 0 to 8. */
export const levelOf = (value: string | undefined): number => {
  const level = Number(value ?? 0);
  return Number.isInteger(level) && level > 0 ? Math.min(LIST_LEVELS - 1, level) : 0;
};
