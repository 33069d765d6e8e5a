import type { ParentNode } from 'domhandler';

export interface OpenElement {
  readonly name: string;
  /** Where its content goes: its own node, its parent's where it was flattened, null where content is dropped. */
  readonly node: ParentNode | null;
  /** Depth of that node in the tree. */
  readonly depth: number;
}

/**
 * How far down the stack an open element is looked for. Real pages stay far below; without it a page of 300,000
 * unclosed tags makes every later tag walk all of them.
 */
const SEARCH_DEPTH = 256;

/** The elements open while a page is read, the innermost last. */
export class ElementStack {
  readonly #open: OpenElement[] = [];
  readonly #counts = new Map<string, number>();

  get top(): OpenElement | undefined {
    return this.#open.at(-1);
  }

  /** How many there are. */
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

  /** Closes the innermost of the named elements and all inside it, unless a boundary lies between. */
  close(targets: ReadonlySet<string>, boundaries: ReadonlySet<string>): boolean {
    const at = this.#find(targets, boundaries);
    if (at === -1) return false;
    while (this.#open.length > at) this.pop();
    return true;
  }

  /** Takes one element out and leaves what was opened inside it open. */
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
