/** What generators should make of the API reference. */
import { openApiDocument } from '../../../api/openapi/document.js';

interface Described {
  readonly operationId: string;
}

/** Ids of all operations of the document. */
export const operationIds = (): readonly string[] => {
  const { paths } = openApiDocument() as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  };
  return Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
};

/** A name without its style: `get_whoami`, `getWhoami` and `GetWhoami` are one. */
export const plainName = (name: string): string => name.replaceAll(/[^a-z\d]/gi, '').toLowerCase();

const MAX_NAME = 60;

/** Returns generated names that are longer than 60 characters, though none of the contract's operation ids is in them. */
export function needlesslyLong(names: readonly string[]): readonly string[] {
  const ids = operationIds().map(plainName);
  return [...new Set(names)].filter(
    (name) => name.length > MAX_NAME && !ids.some((id) => plainName(name).includes(id)),
  );
}

/** Returns names that end with a number which tells two of the same name apart. */
export const numbered = (names: readonly string[], known: readonly string[] = []): readonly string[] =>
  names.filter((name) => /[A-Za-z_]\d+$/.test(name) && !known.includes(name));
