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

/** The open elements during parsing, the innermost last. */
export class ElementStack {
  readonly #open: OpenElement[] = [];
  readonly #counts = new Map<string, number>();

  get top(): OpenElement | undefined {
    return this.#open.at(-1);
  }

  /** Number of open elements. */
  get size(): number {
    return this.#open.length;
  }

  has(name: string): boolean {
    return (this.#counts.get(name) ?? 0) > 0;
  }

  push(element: OpenElement): void {
    this.#open.push(element);
    this.#counts.set(element.name, (this.#counts.get(element.name) ?? 0) + 1);
  }

  pop(): void {
    const element = this.#open.pop();
    if (element !== undefined) this.#counts.set(element.name, (this.#counts.get(element.name) ?? 1) - 1);
  }

  /** Closes the innermost of the named elements and everything inside it, unless a boundary is in between. */
  close(targets: ReadonlySet<string>, boundaries: ReadonlySet<string>): boolean {
    const at = this.#find(targets, boundaries);
    if (at === -1) return false;
    while (this.#open.length > at) this.pop();
    return true;
  }

  /** Removes one element, and leaves the elements opened inside it open. */
  remove(name: string, boundaries: ReadonlySet<string>): boolean {
    const at = this.#find(new Set([name]), boundaries);
    if (at === -1) return false;
    this.#open.splice(at, 1);
    this.#counts.set(name, (this.#counts.get(name) ?? 1) - 1);
    return true;
  }

  #find(targets: ReadonlySet<string>, boundaries: ReadonlySet<string>): number {
    let some = false;
    for (const target of targets) if (this.has(target)) some = true;
    if (!some) return -1;
    const lowest = Math.max(0, this.#open.length - SEARCH_DEPTH);
    for (let i = this.#open.length - 1; i >= lowest; i--) {
      const name = this.#open[i]?.name ?? '';
      if (targets.has(name)) return i;
      if (boundaries.has(name)) return -1;
    }
    return -1;
  }
}
