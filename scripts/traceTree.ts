/** A span of the printed tree. */
export interface DrawnSpan {
  readonly service: string;
  readonly spanId: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly failed: boolean;
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * Returns whether a span is a single call, such as a query of a store: it has no children, and is not an activity, a
 * workflow or the start of one. Calls with the same name and parent are drawn as one line with their number.
 */
const isCall = ({ name }: DrawnSpan, childless: boolean): boolean =>
  childless && !/^(activity|workflow|start) /.test(name);

/** Renders a trace as lines: each span below its parent, ordered by start, with process and duration. */
export function drawTrace(spans: readonly DrawnSpan[]): string[] {
  const spanIds = new Set(spans.map(({ spanId }) => spanId));
  const children = new Map<string | null, DrawnSpan[]>();
  for (const span of spans.toSorted((a, b) => a.startMs - b.startMs)) {
    const parent = span.parentId !== null && spanIds.has(span.parentId) ? span.parentId : null;
    children.set(parent, [...(children.get(parent) ?? []), span]);
  }
  const firstStartMs = Math.min(...spans.map(({ startMs }) => startMs));
  const lines: string[] = [];
  const draw = (parent: string | null, indent: string): void => {
    const childSpans = children.get(parent) ?? [];
    const groups: DrawnSpan[][] = [];
    for (const span of childSpans) {
      const similar = groups.find(
        ([child]) =>
          child &&
          child.name === span.name &&
          isCall(span, !children.has(span.spanId)) &&
          isCall(child, !children.has(child.spanId)),
      );
      if (similar) similar.push(span);
      else groups.push([span]);
    }
    for (const [at, group] of groups.entries()) {
      const [first] = group;
      if (!first) continue;
      const isLast = at === groups.length - 1;
      const ms = group.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
      const label = `${first.name}${group.length > 1 ? ` ×${group.length}` : ''}${group.some(({ failed }) => failed) ? ' ✗' : ''}`;
      const line = parent === null ? label : `${indent}${isLast ? '└ ' : '├ '}${label}`;
      const when = `${(first.startMs - firstStartMs).toFixed(0).padStart(6)} ms ${ms.toFixed(1).padStart(8)} ms`;
      lines.push(
        `${line.padEnd(72)} ${when}  ${parent === null || first.service !== serviceOf(parent) ? first.service : ''}`.trimEnd(),
      );
      if (group.length === 1) draw(first.spanId, parent === null ? ' ' : `${indent}${isLast ? '  ' : '│ '}`);
    }
  };
  const serviceOf = (spanId: string): string | undefined => spans.find((span) => span.spanId === spanId)?.service;
  draw(null, '');
  return lines;
}
