/** What one schema may answer that another does not describe. */
import { type Document, resolve, type Schema } from './contract.js';

/** A schema of one type, where another has several of them. */
interface Kind extends Schema {
  /** Undefined: anything. */
  readonly type?: string;
}

/** Each type that a value may have, by itself; a choice of integers is one of integers, whatever it is called. */
function kindsOf(document: Document, schema: Schema): Kind[] {
  const whole = resolve(document, schema);
  const parts = whole.anyOf ?? whole.oneOf;
  if (parts) return parts.flatMap((one) => kindsOf(document, one));
  if (Array.isArray(whole.type)) return whole.type.flatMap((type) => kindsOf(document, { ...whole, type }));
  // Joi writes the null of an enum into the enum.
  if (whole.type === 'null') return [{ type: 'null' }];
  return [whole as Kind];
}

const isOpen = ({ type, properties, items, enum: values }: Kind): boolean =>
  type === undefined && !properties && !items && !values;

export interface Compared {
  readonly ours: Document;
  readonly theirs: Document;
  /** Fields that we add, by their paths. */
  readonly added: ReadonlySet<string>;
  /** Fields that we add to records, wherever these are. */
  readonly ofRecords?: ReadonlySet<string>;
}

/** @returns a sentence for each difference, with the path of the field; none where whatever we answer is described there */
export function differences(compared: Compared, mine: Schema, other: Schema, path = ''): string[] {
  const { ours, theirs } = compared;
  const wanted = kindsOf(theirs, other);
  if (wanted.some(isOpen)) return [];
  const described = kindsOf(ours, mine);
  return described.flatMap((kind) => {
    const alike = wanted.filter(({ type }) => type === kind.type || (type === 'number' && kind.type === 'integer'));
    // One that fits is enough.
    const tries = alike.map((one) => ofKind(compared, kind, one, path));
    return tries.toSorted((a, b) => a.length - b.length)[0] ?? [`${path}: may be ${kind.type ?? 'anything'}`];
  });
}

function ofKind(compared: Compared, mine: Kind, other: Kind, path: string): string[] {
  const { added, ofRecords } = compared;
  const below = (name: string): string => (path === '' ? name : `${path}.${name}`);
  if (other.enum) {
    if (!mine.enum) return [`${path}: may be any ${mine.type}`];
    return mine.enum
      .filter((value) => value !== null && !other.enum?.includes(value))
      .map((value) => `${path}: may be ${String(value)}`);
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
      const known = other.properties?.[name];
      if (known) return differences(compared, field, known, below(name));
      if (!added.has(below(name)) && !ofRecords?.has(name)) return [`${below(name)}: is not in the contract`];
      return field['x-allotrope-extension'] === true ? [] : [`${below(name)}: is not marked as an extension`];
    }),
  ];
}
