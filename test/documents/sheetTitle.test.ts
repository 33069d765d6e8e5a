import { expect, test } from '@jest/globals';

import { sheetTitle } from '../../documents/tables/sheetTitle.js';

const shown = (name: string): string | null => sheetTitle({ name, isHidden: false }, true);

test('the only sheet gets its name as a heading, unless it is the default name of a program', () => {
  expect(['Duck Observations', 'Fees 2024', 'Q1', 'Sheets of 1901'].map(shown)).toEqual([
    'Duck Observations',
    'Fees 2024',
    'Q1',
    'Sheets of 1901',
  ]);
  expect(['Sheet1', 'sheet', 'Worksheet 2', 'Tabelle1', 'Feuille1', 'Лист1', '工作表1', ' '].map(shown)).toEqual(
    Array.from({ length: 8 }, () => null),
  );
});

test('each of several sheets gets its name as a heading, also a default name; a hidden sheet is marked', () => {
  expect(sheetTitle({ name: 'Sheet1', isHidden: false }, false)).toBe('Sheet1');
  expect(sheetTitle({ name: 'Sheet1', isHidden: true }, true)).toBe('Sheet1 (hidden)');
});
