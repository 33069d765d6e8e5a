/** Returns a member of a parsed JSON object, unchecked; undefined if there is none. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** Returns a parsed JSON list, its elements unchecked; undefined for anything else. */
export const listIn = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : undefined);
