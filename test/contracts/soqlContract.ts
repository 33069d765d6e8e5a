/** Compares queries, and the records in their results, with the objects of Salesforce. */
import { anything, flag, integer, listOf, object, orNull, type Shape, text } from './answers/shape.js';
import { FIELDS, RELATED } from './salesforceObjects.js';

interface Selection {
  readonly object: string;
  readonly fields: readonly string[];
  /** Fields in the conditions and in ORDER BY. */
  readonly others: readonly string[];
}
interface Parsed extends Selection {
  readonly isCount: boolean;
  readonly children: readonly Selection[];
}

const names = (list: string): string[] => list.split(',').flatMap((name) => name.trim() || []);
const CONDITION = /([A-Za-z][\w.]*)\s*(?:=|!=|<=|>=|<|>|LIKE\b|IN\b)/g;

function selectionOf(soql: string): Selection | null {
  const [, fields, from, rest = ''] = /^SELECT (.*?) FROM (\w+)(.*)$/s.exec(soql.trim()) ?? [];
  if (fields === undefined || from === undefined) return null;
  const order = /ORDER BY (.*?)(?: LIMIT|$)/s.exec(rest)?.[1] ?? '';
  const conditions = [...rest.matchAll(CONDITION)].map(([, name = '']) => name);
  return {
    object: from,
    fields: names(fields),
    others: [...conditions, ...names(order).map((one) => one.split(' ')[0]!)],
  };
}

function parse(soql: string): Parsed | null {
  const children: Selection[] = [];
  const outer = soql
    .replaceAll(/'(?:[^'\\]|\\.)*'/g, "''")
    .replaceAll(/\((SELECT [^()]*)\),?/g, (_, inner: string) => {
      const child = selectionOf(inner);
      if (child) children.push(child);
      return '';
    })
    .replace(/,\s*FROM/, ' FROM');
  const selection = selectionOf(outer);
  if (!selection) return null;
  const isCount = selection.fields[0] === 'COUNT()';
  return { ...selection, fields: isCount ? [] : selection.fields, isCount, children };
}

/**
 * Returns the shape of a field; undefined if the object has no such field. The suffix `__c` marks a custom field of a
 * Salesforce customer, which may have any shape.
 */
function shapeOfField(fields: Readonly<Record<string, Shape>>, name: string): Shape | undefined {
  const [first = '', second] = name.split('.');
  if (second !== undefined) return FIELDS[RELATED[first] ?? '']?.[second];
  return name.endsWith('__c') ? anything : fields[name];
}

function unknownIn({ fields, others }: Selection, kind: string): string[] {
  const objectFields = FIELDS[kind];
  if (objectFields === undefined) return [`object ${kind}`];
  return [...fields, ...others].flatMap((name) => (shapeOfField(objectFields, name) ? [] : `${kind}.${name}`));
}

/** Returns the fault of a query; null for none. */
export function soqlProblem(soql: string): string | null {
  const parsed = parse(soql);
  if (!parsed) return 'is not a query';
  const unknown = [
    ...unknownIn(parsed, parsed.object),
    ...parsed.children.flatMap((child) => unknownIn(child, RELATED[child.object] ?? child.object)),
  ];
  return unknown.length === 0 ? null : `names ${unknown.join(', ')}, not in the specification`;
}

/** Type and address of a record, which every record of the REST API has. */
const attributes = object({ type: text, url: text }, ['type', 'url']);

function recordOf({ fields }: Selection, kind: string, children: Readonly<Record<string, Shape>>): Shape {
  const shapes: Record<string, Shape> = { attributes, ...children };
  for (const name of fields) {
    const [first = '', second] = name.split('.');
    const shape = shapeOfField(FIELDS[kind] ?? {}, name) ?? anything;
    const inner = { ...shapes[first]?.fields, attributes, ...(second === undefined ? {} : { [second]: shape }) };
    shapes[first] = second === undefined ? shape : orNull(object(inner, Object.keys(inner)));
  }
  return object(shapes, Object.keys(shapes));
}

/** https://developer.salesforce.com/docs/platform/api-rest/guide/resources-query.html */
const resultOf = (record: Shape): Shape =>
  object({ totalSize: integer, done: flag, nextRecordsUrl: text, records: listOf(record) }, [
    'totalSize',
    'done',
    'records',
  ]);

/** Returns the shape of the answer to a query: each record has exactly the selected fields. */
export function answerOf(soql: string): Shape {
  const parsed = parse(soql);
  if (!parsed) return anything;
  const children = parsed.children.map((child): [string, Shape] => [
    child.object,
    orNull(resultOf(recordOf(child, RELATED[child.object] ?? '', {}))),
  ]);
  return resultOf(recordOf(parsed, parsed.object, Object.fromEntries(children)));
}
