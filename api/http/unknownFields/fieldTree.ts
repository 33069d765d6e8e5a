import type Joi from 'joi';

import type { ValidationDetail } from '../errors.js';

/** Field names that a schema defines, nested like the value. Values without fields have no tree. */
export interface FieldTree {
  /** Names of the fields of an object, with the tree of each; null: the field has no fields of its own. */
  readonly names: ReadonlyMap<string, FieldTree | null>;
  /** Names that validation replaces with another name. */
  readonly renamed: ReadonlySet<string>;
  /** Whether other names are allowed too, such as those of tags. */
  readonly isOpen: boolean;
  /** Tree of each entry of a list. */
  readonly entries: FieldTree | null;
}

/** An unknown field: its path, and the names that the schema defines in the same object. */
export interface UnknownField {
  readonly path: ValidationDetail['loc'];
  readonly knownNames: readonly string[];
}

/** Maximum number of unknown fields that are reported for one request. */
export const MAX_UNKNOWN = 20;

/** An empty tree. */
export const NO_FIELDS: FieldTree = { names: new Map(), renamed: new Set(), isOpen: false, entries: null };

/** The parts of the result of Joi's `describe()` that contain field names. */
interface Described {
  readonly keys?: Readonly<Record<string, Described>>;
  readonly patterns?: readonly unknown[];
  readonly flags?: { readonly unknown?: boolean };
  readonly renames?: readonly { readonly from: unknown }[];
  readonly items?: readonly Described[];
  readonly matches?: readonly Branch[];
}
interface Branch {
  readonly schema?: Described;
  readonly then?: Described;
  readonly otherwise?: Described;
}

const joined = (a: FieldTree | null, b: FieldTree | null): FieldTree | null => {
  if (!a || !b) return a ?? b;
  const names = new Map(a.names);
  for (const [name, tree] of b.names) names.set(name, joined(names.get(name) ?? null, tree));
  return {
    names,
    renamed: new Set([...a.renamed, ...b.renamed]),
    isOpen: a.isOpen || b.isOpen,
    entries: joined(a.entries, b.entries),
  };
};
const allJoined = (trees: readonly (FieldTree | null)[]): FieldTree | null => trees.reduce(joined, null);

function treeOf({ keys, patterns, flags, renames, items, matches }: Described): FieldTree | null {
  const ownTree: FieldTree | null =
    keys === undefined && patterns === undefined
      ? null
      : {
          names: new Map(Object.entries(keys ?? {}).map(([name, key]) => [name, treeOf(key)])),
          renamed: new Set((renames ?? []).flatMap(({ from }) => (typeof from === 'string' ? [from] : []))),
          isOpen: flags?.unknown === true || patterns !== undefined,
          entries: null,
        };
  const entries = allJoined((items ?? []).map(treeOf));
  const branches = (matches ?? []).flatMap(({ schema, then, otherwise }) =>
    // With `then`, the schema is only a condition.
    (then || otherwise ? [then, otherwise] : [schema]).flatMap((one) => (one ? [treeOf(one)] : [])),
  );
  return allJoined([ownTree, entries && { ...NO_FIELDS, entries }, ...branches]);
}

/** Returns the field names that a schema defines. Alternatives are joined; null: the schema names no fields. */
export const fieldTreeOf = (schema: Joi.Schema): FieldTree | null => treeOf(schema.describe() as Described);

type Container = Readonly<Record<string, unknown>>;
const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;
const isNothing = (value: unknown): boolean =>
  value === null || (isContainer(value) && Object.keys(value).length === 0);

/**
 * Returns the fields of a value that its schema does not define, at most MAX_UNKNOWN. Only fields in the tree are
 * visited, so vectors, texts and tags are not read.
 * @param validated the value after validation, which has removed unknown fields; null if validation failed
 */
export function findUnknown(tree: FieldTree, given: unknown, validated: unknown): readonly UnknownField[] {
  const found: UnknownField[] = [];
  const path: (string | number)[] = [];
  const isUnknown = (
    { names, renamed, isOpen }: FieldTree,
    name: string,
    value: unknown,
    accepted: unknown,
  ): boolean => {
    if (!isContainer(accepted)) return !names.has(name) && !isOpen;
    if (Object.hasOwn(accepted, name)) return false;
    // Validation also removes null and {} from known fields, where they mean "absent".
    if (names.has(name) || isOpen) return !isNothing(value) && !renamed.has(name);
    return !renamed.has(name);
  };
  const visit = (at: FieldTree, value: unknown, accepted: unknown): void => {
    if (!isContainer(value)) return;
    if (Array.isArray(value)) {
      if (!at.entries) return;
      for (let index = 0; index < value.length && found.length < MAX_UNKNOWN; index += 1) {
        path.push(index);
        visit(at.entries, value[index], Array.isArray(accepted) ? accepted[index] : null);
        path.pop();
      }
      return;
    }
    for (const name of Object.keys(value)) {
      if (found.length >= MAX_UNKNOWN) return;
      path.push(name);
      if (isUnknown(at, name, value[name], accepted)) found.push({ path: [...path], knownNames: [...at.names.keys()] });
      else {
        const below = at.names.get(name);
        if (below) visit(below, value[name], isContainer(accepted) ? accepted[name] : null);
      }
      path.pop();
    }
  };
  visit(tree, given, validated);
  return found;
}
