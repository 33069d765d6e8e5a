import type { TraceContext, SpanIds } from './spans.js';

/** A W3C traceparent. */
export const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const NUMERIC_IDS: readonly string[] = ['organization', 'user', 'file', 'run'] satisfies (keyof SpanIds)[];
const TEXT_IDS: readonly string[] = ['request', 'workflow'] satisfies (keyof SpanIds)[];

/** Returns the headers of a trace context, as defined by W3C Trace Context and Baggage. */
export function headersOf({ traceparent, ids }: TraceContext): Record<string, string> {
  const baggage = Object.entries(ids).flatMap(([name, value]) =>
    value === undefined || Array.isArray(value) ? [] : [`${name}=${encodeURIComponent(String(value))}`],
  );
  return { traceparent, ...(baggage.length > 0 && { baggage: baggage.join(',') }) };
}

function idOf(member: string): [string, string | number] | null {
  const at = member.indexOf('=');
  const [name, value] = [member.slice(0, at).trim(), decodeURIComponent(member.slice(at + 1).trim())];
  if (TEXT_IDS.includes(name)) return [name, value];
  return NUMERIC_IDS.includes(name) && /^\d{1,15}$/.test(value) ? [name, Number(value)] : null;
}

/** Parses a trace context from its headers; null if there is none. */
export function parseTraceContext(headers: unknown): TraceContext | null {
  const { traceparent, baggage = '' } = (headers ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return null;
  try {
    const members = typeof baggage === 'string' ? baggage.split(',') : [];
    const ids = Object.fromEntries(members.map(idOf).filter((id) => id !== null));
    return { traceparent, ids };
  } catch {
    // The baggage has an invalid percent-encoding, perhaps from another application: ignore all of it.
    return { traceparent, ids: {} };
  }
}
