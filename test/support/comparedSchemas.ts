/**
 * Compares two response schemas: ours and the contract's. Finds responses of ours that the contract does not describe,
 * and fields of ours that are not marked as extensions.
 */
import { type Document, resolve, type Schema } from './contract.js';

/** A schema of a single type. */
interface Kind extends Schema {
  /** Unset: any type. */
  readonly type?: string;
}

/** Returns a schema as one schema per type. */
function kindsOf(document: Document, schema: Schema): Kind[] {
  const whole = resolve(document, schema);
  const parts = whole.anyOf ?? whole.oneOf;
  if (parts) return parts.flatMap((part) => kindsOf(document, part));
  if (Array.isArray(whole.type)) return whole.type.flatMap((type) => kindsOf(document, { ...whole, type }));
  // For a nullable enum, Joi lists null as a value too; drop it here.
  if (whole.type === 'null') return [{ type: 'null' }];
  return [whole as Kind];
}

const isOpen = ({ type, properties, items, enum: values }: Kind): boolean =>
  type === undefined && !properties && !items && !values;

export interface Compared {
  readonly ours: Document;
  readonly theirs: Document;
  /** Paths of the fields that only our document has. */
  readonly added: ReadonlySet<string>;
  /** Names of fields that only our document has, at whatever path: fields of records such as files (EXTENSIONS.records). */
  readonly ofRecords?: ReadonlySet<string>;
  /** Values of enums that only our document has. */
  readonly values?: ReadonlySet<unknown>;
}

/** @returns a sentence for each difference, with the path of the field */
export function differences(compared: Compared, mine: Schema, other: Schema, path = ''): string[] {
  const { ours, theirs } = compared;
  const expected = kindsOf(theirs, other);
  if (expected.some(isOpen)) return [];
  const described = kindsOf(ours, mine);
  return described.flatMap((kind) => {
    const candidates = expected.filter(
      ({ type }) => type === kind.type || (type === 'number' && kind.type === 'integer'),
    );
    // A match with one candidate is enough. Without a match, report the candidate with the fewest differences.
    const attempts = candidates.map((candidate) => ofKind(compared, kind, candidate, path));
    return attempts.toSorted((a, b) => a.length - b.length)[0] ?? [`${path}: may be ${kind.type ?? 'anything'}`];
  });
}

function ofKind(compared: Compared, mine: Kind, other: Kind, path: string): string[] {
  const { added, ofRecords, values } = compared;
  const below = (name: string): string => (path === '' ? name : `${path}.${name}`);
  if (other.enum) {
    if (!mine.enum) return [`${path}: may be any ${mine.type}`];
    return mine.enum
      .filter((value) => value !== null && !other.enum?.includes(value) && !values?.has(value))
      .map((value) => `${path}: may be ${String(value)}, which is not in EXTENSIONS.values`);
  }
  if (other.type === 'array')
    return mine.items
      ? differences(compared, mine.items, other.items ?? {}, below('[]'))
      : [`${path}: a list of anything`];
  if (!other.properties) return [];
  const fields = Object.entries(mine.properties ?? {});
  const missing = Object.keys(other.properties).filter((name) => !mine.properties?.[name]);
  const optional = (other.required ?? []).filter((name) => !mine.required?.includes(name));
  return [
    ...missing.map((name) => `${below(name)}: is not described`),
    ...optional.map((name) => `${below(name)}: may be absent`),
    ...fields.flatMap(([name, field]) => {
      const otherProperty = other.properties?.[name];
      if (otherProperty) return differences(compared, field, otherProperty, below(name));
      if (!added.has(below(name)) && !ofRecords?.has(name)) return [`${below(name)}: is not in the contract`];
      return field['x-allotrope-extension'] === true ? [] : [`${below(name)}: is not marked as an extension`];
    }),
  ];
}
