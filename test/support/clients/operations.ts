/** Operation ids of the API reference, and checks of the names that client generators derive from them. */
import { openApiDocument } from '../../../api/openapi/document.js';

interface Described {
  readonly operationId: string;
}

type Group = Readonly<Record<string, Readonly<Record<string, Described>>>>;
const document = openApiDocument() as { readonly paths: Group; readonly webhooks: Group };
const idsOf = (group: Group): readonly string[] =>
  Object.values(group).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));

/** Ids of all operations of the document. */
export const operationIds = (): readonly string[] => idsOf(document.paths);
/** Ids of all deliveries to webhooks. */
export const deliveryIds = (): readonly string[] => idsOf(document.webhooks);

/** Returns a name without its case style: the same for `get_whoami`, `getWhoami` and `GetWhoami`. */
export const plainName = (name: string): string => name.replaceAll(/[^a-z\d]/gi, '').toLowerCase();

const MAX_NAME = 60;

/** Returns generated names that exceed 60 characters although no operation id is part of them. */
export function needlesslyLong(names: readonly string[]): readonly string[] {
  const ids = operationIds().map(plainName);
  return [...new Set(names)].filter(
    (name) => name.length > MAX_NAME && !ids.some((id) => plainName(name).includes(id)),
  );
}

/**
 * Returns names that end with a number, which generators append to equal names.
 * @param documented names that end with a number in the document itself
 */
export const numbered = (names: readonly string[], documented: readonly string[] = []): readonly string[] =>
  names.filter((name) => /[A-Za-z_]\d+$/.test(name) && !documented.includes(name));
