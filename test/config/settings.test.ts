import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from '@jest/globals';
import type { Schema } from 'joi';

import { SETTINGS } from '../../config/settings.js';
import { everyRow } from '../support/everyRow.js';
import { changesOf } from './readSettings.js';

/**
 * settings.tsv: one row for each setting, written by hand where a setting is added: its default, the least and the most
 * that it takes, a value, and what that value changes in the configuration (and nothing else).
 */
const TABLE = path.join(path.dirname(fileURLToPath(import.meta.url)), 'settings.tsv');
const rows = readFileSync(TABLE, 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [name = '', fallback = '', least = '', most = '', value = '', changes = ''] = line.split('\t');
    return { name, fallback, least, most, value, changes };
  });
type Row = (typeof rows)[number];
const nameOf = ({ name }: Row): string => name;
const schemas: Readonly<Record<string, { readonly schema: Schema }>> = SETTINGS;

test('each setting has a row', () => {
  // Its value is the name of a file with a key of Google.
  expect([...rows.map(nameOf), 'VERTEX_CREDENTIALS'].toSorted()).toEqual(Object.keys(SETTINGS).toSorted());
});

test('each setting changes what its row says, in that unit, and nothing else', async () => {
  await everyRow(rows, nameOf, ({ name, value, changes }) => {
    expect(changesOf(name, value)).toEqual(JSON.parse(changes));
  });
});

test('each setting has the default of its row', async () => {
  await everyRow(rows, nameOf, ({ name, fallback }) => {
    const { value } = schemas[name]!.schema.validate(undefined) as { value: unknown };
    expect(value).toEqual(fallback === '' ? undefined : JSON.parse(fallback));
  });
});

/** Values at and just outside a bound, by whether they are taken. */
function boundsOf({ least, most }: Row): [value: string, isTaken: boolean][] {
  if (least === '16 characters')
    return [
      ['x'.repeat(16), true],
      ['x'.repeat(15), false],
    ];
  if (least.startsWith('>'))
    return [
      ['0.001', true],
      ['0', false],
    ];
  const below: [string, boolean][] =
    least === ''
      ? []
      : [
          [least, true],
          [String(Number(least) - 1), false],
        ];
  const above: [string, boolean][] =
    most === ''
      ? []
      : [
          [most, true],
          [String(Number(most) + 1), false],
        ];
  return [...below, ...above];
}

test('each setting takes its least and its most, and nothing outside', async () => {
  await everyRow(
    rows.filter(({ least, most }) => least + most !== ''),
    nameOf,
    (row) => {
      const given = (value: string): unknown => {
        try {
          return changesOf(row.name, value);
        } catch (error) {
          return (error as Error).constructor.name;
        }
      };
      for (const [value, isTaken] of boundsOf(row))
        if (isTaken) expect([value, given(value)]).toEqual([value, expect.any(Object)]);
        else expect([value, given(value)]).toEqual([value, 'ConfigError']);
    },
  );
});
