import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from '@jest/globals';
import type { Schema } from 'joi';

import { SETTINGS } from '../../config/settings.js';
import { everyRow } from '../support/everyRow.js';
import { changesOf } from './readSettings.js';

/**
 * settings.tsv has one row per setting, written by hand: its default, minimum and maximum, an example value, and
 * everything that this value changes in the configuration.
 */
const TABLE = path.join(path.dirname(fileURLToPath(import.meta.url)), 'settings.tsv');
const rows = readFileSync(TABLE, 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [name = '', fallback = '', minimum = '', maximum = '', value = '', changes = ''] = line.split('\t');
    return { name, fallback, minimum, maximum, value, changes };
  });
type Row = (typeof rows)[number];
const nameOf = ({ name }: Row): string => name;
const schemas: Readonly<Record<string, { readonly schema: Schema }>> = SETTINGS;

test('the table has a row for each setting', () => {
  // VERTEX_CREDENTIALS has no row: its value is the path of a Google key file.
  expect([...rows.map(nameOf), 'VERTEX_CREDENTIALS'].toSorted()).toEqual(Object.keys(SETTINGS).toSorted());
});

test('each setting changes exactly the configuration values in its row, in their units', async () => {
  await everyRow(rows, nameOf, ({ name, value, changes }) => {
    expect(changesOf(name, value)).toEqual(JSON.parse(changes));
  });
});

test('each setting has the default in its row', async () => {
  await everyRow(rows, nameOf, ({ name, fallback }) => {
    const { value } = schemas[name]!.schema.validate(undefined) as { value: unknown };
    expect(value).toEqual(fallback === '' ? undefined : JSON.parse(fallback));
  });
});

/** Returns values at and just outside the limits of a setting, and whether they are accepted. */
function boundsOf({ minimum, maximum }: Row): [value: string, isAccepted: boolean][] {
  if (minimum === '16 characters')
    return [
      ['x'.repeat(16), true],
      ['x'.repeat(15), false],
    ];
  if (minimum.startsWith('>'))
    return [
      ['0.001', true],
      ['0', false],
    ];
  const below: [string, boolean][] =
    minimum === ''
      ? []
      : [
          [minimum, true],
          [String(Number(minimum) - 1), false],
        ];
  const above: [string, boolean][] =
    maximum === ''
      ? []
      : [
          [maximum, true],
          [String(Number(maximum) + 1), false],
        ];
  return [...below, ...above];
}

test('each setting accepts its minimum and its maximum, and no value outside', async () => {
  await everyRow(
    rows.filter(({ minimum, maximum }) => minimum + maximum !== ''),
    nameOf,
    (row) => {
      const resultOf = (value: string): unknown => {
        try {
          return changesOf(row.name, value);
        } catch (error) {
          return (error as Error).constructor.name;
        }
      };
      for (const [value, isAccepted] of boundsOf(row))
        if (isAccepted) expect([value, resultOf(value)]).toEqual([value, expect.any(Object)]);
        else expect([value, resultOf(value)]).toEqual([value, 'ConfigError']);
    },
  );
});
