import { formatNumber } from '../../office/formatNumber.js';
import type { ListLevel } from './readNumbering.js';
import { LIST_LEVELS } from './readNumbering.js';
import type { ListPlace } from './readStyles.js';

/** Counts the items of a document's lists, and writes their numbers as Word shows them. */
export class ListNumbers {
  readonly #levelOf: (place: ListPlace) => ListLevel;
  /** The number of the last item by level, of each list. */
  readonly #last = new Map<string, Map<number, number>>();
  /** Lists whose numbering was restarted, by id and level: each restarts once. */
  readonly #restarted = new Set<string>();

  constructor(levelOf: (place: ListPlace) => ListLevel) {
    this.#levelOf = levelOf;
  }

  /** Counts the next item. Returns its number with the text around it, such as `1.2` or `(a)`; '' for a bullet. */
  next(place: ListPlace): string {
    const level = this.#levelOf(place);
    const last = this.#last.get(level.list) ?? new Map<number, number>();
    this.#last.set(level.list, last);
    const counterKey = `${place.numId}:${place.level}`;
    const isFirst = level.restartsAt !== null && !this.#restarted.has(counterKey);
    const before = last.get(place.level);
    const next = before === undefined ? level.start : before + 1;
    last.set(place.level, isFirst ? (level.restartsAt ?? next) : next);
    this.#restarted.add(counterKey);
    for (let deeper = place.level + 1; deeper < LIST_LEVELS; deeper++)
      if (place.level < this.#levelOf({ ...place, level: deeper }).restartsBelow) last.delete(deeper);
    if (level.format === null) return '';
    if (level.text === null) return level.format === 'none' ? '' : `${last.get(place.level)}.`;
    return level.text
      .replaceAll(/%([1-9])/g, (_all, shown: string) => {
        const at = this.#levelOf({ ...place, level: Number(shown) - 1 });
        const number = last.get(Number(shown) - 1) ?? at.start;
        return formatNumber(number, level.isLegal ? 'decimal' : (at.format ?? 'none'));
      })
      .trim();
  }
}
