/** Which rows of a collection a write changes: for tests of writes that apply only to some states of a record. */
import { expect } from '@jest/globals';
import type { Model } from 'mongoose';

interface Numbered {
  readonly _id: number;
}

/** Reads all rows of a collection, as text by id. */
export const readRows = async <Row>(model: Model<Row>): Promise<ReadonlyMap<number, string>> =>
  new Map((await model.find().lean<(Row & Numbered)[]>()).map((row) => [row._id, JSON.stringify(row)]));

/**
 * Calls a write once for each row and returns the names of the rows that it changed. A write that returns a boolean must
 * return whether it changed the row; a write that returns nothing is not checked further. No call may change another
 * row.
 * @param ids the rows by name
 */
export async function changedBy<Row>(
  model: Model<Row>,
  ids: ReadonlyMap<string, number>,
  call: (id: number, row: Row & Numbered) => Promise<unknown>,
): Promise<string[]> {
  const changes: string[] = [];
  let before = await readRows(model);
  for (const [name, id] of ids) {
    const row = await model.findOne({ _id: id } as never).lean<Row & Numbered>();
    const result = await call(id, row!);
    const after = await readRows(model);
    const isChanged = after.get(id) !== before.get(id);
    if (isChanged) changes.push(name);
    if (typeof result === 'boolean') expect([name, result]).toEqual([name, isChanged]);
    for (const [other, text] of before) if (other !== id) expect(after.get(other)).toBe(text);
    before = after;
  }
  return changes;
}
