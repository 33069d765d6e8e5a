import type { ParentNode } from 'domhandler';

export interface OpenElement {
  readonly name: string;
  /** Target of its content: its own node, its parent's if it was flattened, null if the content is dropped. */
  readonly node: ParentNode | null;
  /** Depth of that node in the tree. */
  readonly depth: number;
}

/**
 * Maximum search depth for an open element. Real pages stay far below. Without the limit, on a page with 300,000
 * unclosed tags every later tag would search all of them.
 */
const SEARCH_DEPTH = 256;

/** Number of open elements of one name. */
interface Count {
  open: number;
}

/** The open elements during parsing, the innermost last. */
export class ElementStack {
  readonly #open: OpenElement[] = [];
  /** The count of each open element's name, so that closing needs no search in the map. */
  readonly #countOf: Count[] = [];
  readonly #counts = new Map<string, Count>();

  get top(): OpenElement | undefined {
    return this.#open[this.#open.length - 1];
  }

  /** Number of open elements. */
  get size(): number {
    return this.#open.length;
  }

  has(name: string): boolean {
    const count = this.#counts.get(name);
    return count !== undefined && count.open > 0;
  }

  push(element: OpenElement): void {
    let count = this.#counts.get(element.name);
    if (count === undefined) this.#counts.set(element.name, (count = { open: 0 }));
    count.open += 1;
    this.#open.push(element);
    this.#countOf.push(count);
  }

  pop(): void {
    this.#open.pop();
    const count = this.#countOf.pop();
    if (count !== undefined) count.open -= 1;
  }

  /** Closes the innermost element of the name and everything inside it, unless a boundary is in between. */
  close(target: string, boundaries: ReadonlySet<string>): boolean {
    return this.#closeFrom(this.#find(target, boundaries));
  }

  /** Closes the innermost of the named elements and everything inside it, unless a boundary is in between. */
  closeAny(targets: ReadonlySet<string>, boundaries: ReadonlySet<string>): boolean {
    return this.#closeFrom(this.#findAny(targets, boundaries));
  }

  /** Removes one element, and leaves the elements opened inside it open. */
  remove(name: string, boundaries: ReadonlySet<string>): boolean {
    const at = this.#find(name, boundaries);
    if (at === -1) return false;
    this.#open.splice(at, 1);
    const [count] = this.#countOf.splice(at, 1);
    if (count !== undefined) count.open -= 1;
    return true;
  }

  #closeFrom(at: number): boolean {
    if (at === -1) return false;
    while (this.#open.length > at) this.pop();
    return true;
  }

  #find(target: string, boundaries: ReadonlySet<string>): number {
    if (!this.has(target)) return -1;
    const lowest = Math.max(0, this.#open.length - SEARCH_DEPTH);
    for (let i = this.#open.length - 1; i >= lowest; i--) {
      const name = this.#open[i]?.name ?? '';
      if (name === target) return i;
      if (boundaries.has(name)) return -1;
    }
    return -1;
  }

  #findAny(targets: ReadonlySet<string>, boundaries: ReadonlySet<string>): number {
    let hasMatch = false;
    for (const target of targets) if (this.has(target)) hasMatch = true;
    if (!hasMatch) return -1;
    const lowest = Math.max(0, this.#open.length - SEARCH_DEPTH);
    for (let i = this.#open.length - 1; i >= lowest; i--) {
      const name = this.#open[i]?.name ?? '';
      if (targets.has(name)) return i;
      if (boundaries.has(name)) return -1;
    }
    return -1;
  }
}
