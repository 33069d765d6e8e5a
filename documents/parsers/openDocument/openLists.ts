import { formatNumber } from '../../office/formatNumber.js';
import type { Styles } from './readStyles.js';

interface OpenList {
  readonly id: string | null;
  readonly style: string | null;
  /** Nesting, from 1. */
  readonly level: number;
  /** Number of the last item. */
  number: number;
  /** Whether the open item still has no text; null outside of items. */
  isNew: boolean | null;
  /** Whether the open item has its number. */
  isCounted: boolean;
  /** Whether the open element is a header, which has no mark. */
  isHeader: boolean;
}

/** The place of a paragraph in a list. */
export interface ListItem {
  /** Nesting, from 0. */
  readonly level: number;
  /** The number with the text around it, such as `3.` or `(a)`; '' for a bullet, null for a further paragraph. */
  readonly number: string | null;
}

/** Tracks the open lists, and numbers their items as the list's style defines. */
export class OpenLists {
  readonly #styles: Styles;
  readonly #open: OpenList[] = [];
  /** Numbers of the last items of ended lists, by level and style. */
  readonly #byStyle = new Map<string, number>();
  /** Numbers of the last items of ended lists, by the id of the list. */
  readonly #byId = new Map<string, number>();

  constructor(styles: Styles) {
    this.#styles = styles;
  }

  get depth(): number {
    return this.#open.length;
  }

  /** @param base number of open lists around the cell or text box that contains the list */
  begin(attributes: Readonly<Record<string, string>>, base: number): void {
    const outer = this.#open.length > base ? this.#open.at(-1) : undefined;
    const style = attributes['style-name'] ?? outer?.style ?? null;
    const level = this.#open.length - base + 1;
    const continued = attributes['continue-list'];
    const isContinued = attributes['continue-numbering'] === 'true';
    const before =
      continued === undefined
        ? isContinued
          ? this.#byStyle.get(`${level} ${style ?? ''}`)
          : undefined
        : this.#byId.get(continued);
    const number = before ?? this.#styles.levelOf(style, level).start - 1;
    this.#open.push({
      id: attributes['id'] ?? null,
      style,
      level,
      number,
      isNew: null,
      isCounted: false,
      isHeader: false,
    });
  }

  end(): void {
    const list = this.#open.pop();
    if (!list) return;
    this.#byStyle.set(`${list.level} ${list.style ?? ''}`, list.number);
    if (list.id !== null) this.#byId.set(list.id, list.number);
  }

  beginItem(attributes: Readonly<Record<string, string>>, isHeader: boolean): void {
    const list = this.#open.at(-1);
    if (!list) return;
    [list.isNew, list.isCounted, list.isHeader] = [true, false, isHeader];
    const start = Number(attributes['start-value']);
    if (Number.isInteger(start)) list.number = start - 1;
  }

  endItem(): void {
    const list = this.#open.at(-1);
    if (list) list.isNew = null;
  }

  /**
   * Returns the place of a paragraph, and counts its item; null outside of lists. An empty paragraph counts too, but
   * leaves the mark to the next one of its item.
   */
  place(base: number, isEmpty: boolean): ListItem | null {
    const list = this.#open.length > base ? this.#open.at(-1) : undefined;
    if (!list) return null;
    const isFirst = list.isNew === true && !list.isHeader;
    if (!isEmpty) list.isNew = false;
    // Count only items with a paragraph: if the first item is on a deeper level, programs write empty items around it.
    if (isFirst && !list.isCounted) [list.number, list.isCounted] = [list.number + 1, true];
    return { level: list.level - 1, number: isFirst ? this.#numberOf(list) : null };
  }

  /** Returns the number of an open list's last item as shown; '' for a bullet. */
  #numberOf({ style, level }: OpenList): string {
    const { format, text } = this.#styles.levelOf(style, level);
    if (format === null) return '';
    const shown = text.replaceAll(/%(\d{1,2})%(\.(?=%))?/g, (_all, of: string, point = '') => {
      const at = this.#styles.levelOf(style, Number(of));
      if (at.format === null || Number(of) > level) return '';
      const list = this.#open.at(Number(of) - level - 1);
      // An outer list without a counted item is shown with its first number.
      const isCounted = list !== undefined && (list.isCounted || list.number >= at.start);
      return `${formatNumber(isCounted ? list.number : at.start, at.format)}${point}`;
    });
    return shown.trim();
  }
}
