/** A member of an object as it came; undefined where there is none. */
export function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** A list as it came; undefined for anything else. */
export const listIn = (value: unknown): readonly unknown[] | undefined => (Array.isArray(value) ? value : undefined);
