import { describe, expect, test } from '@jest/globals';

import { gmailQuery } from '../../connectors/google/gmail/query.js';
import { FilterError } from '../../contract/sources/filterTree.js';
import { gmailFilterOf, idOfGmailFilter, readGmailFilter } from '../../contract/sources/gmailFilters.js';
import { everyRow } from '../support/everyRow.js';

/** 7 January 2024, midnight in UTC, in seconds. */
const DAY = 1_704_585_600;

describe('a Gmail filter', () => {
  const QUERIES: readonly (readonly [unknown, string])[] = [
    [{}, ''],
    [{ key: 'label', value: 'Test' }, 'label:Test'],
    [{ key: 'label', value: 'Work/Boats & (old) Docks' }, 'label:Work-Boats----old--Docks'],
    [{ key: 'label', value: 'größer' }, 'label:größer'],
    [{ key: 'label', value: 'CATEGORY_PERSONAL' }, 'category:primary'],
    [{ key: 'label', value: 'CATEGORY_PROMOTIONS', negate: true }, '-category:promotions'],
    [{ key: 'after', value: '2024/01/07' }, `after:${DAY}`],
    [{ key: 'before', value: '2024/1/7' }, `before:${DAY}`],
    [{ key: 'is', value: 'Starred' }, 'is:starred'],
    [{ key: 'is', value: 'unread', negate: true }, '-is:unread'],
    [{ key: 'is', value: 'unread', negate: false }, 'is:unread'],
    [{ key: 'from', value: 'ada@harbour.example' }, 'from:ada@harbour.example'],
    [{ key: 'to', value: 'Ada Lee' }, 'to:"Ada Lee"'],
    // Operators, groups and negations inside a value are quoted as text.
    [{ key: 'from', value: 'ada OR in:trash' }, 'from:"ada OR in:trash"'],
    [{ key: 'from', value: '{ada ben}' }, 'from:"{ada ben}"'],
    [{ key: 'from', value: '-ada' }, 'from:"-ada"'],
    [{ key: 'in', value: 'sent' }, 'in:sent'],
    [{ key: 'has', value: 'attachment' }, 'has:attachment'],
    [{ AND: [{ key: 'is', value: 'starred' }] }, 'is:starred'],
    [{ OR: [{ AND: [{ key: 'is', value: 'starred' }] }] }, 'is:starred'],
    [
      {
        AND: [
          { key: 'is', value: 'starred' },
          { key: 'in', value: 'inbox' },
        ],
      },
      'is:starred in:inbox',
    ],
    [
      {
        OR: [
          { key: 'is', value: 'starred' },
          { key: 'in', value: 'inbox' },
        ],
      },
      '{is:starred in:inbox}',
    ],
    [
      {
        AND: [
          { key: 'after', value: '2024/01/07' },
          {
            OR: [
              { key: 'label', value: 'Personal' },
              { key: 'is', value: 'starred' },
            ],
          },
        ],
      },
      `after:${DAY} {label:Personal is:starred}`,
    ],
    [
      {
        OR: [
          {
            AND: [
              { key: 'from', value: 'a@b.example' },
              { key: 'to', value: 'c@d.example', negate: true },
            ],
          },
          { key: 'in', value: 'sent' },
        ],
      },
      '{(from:a@b.example -to:c@d.example) in:sent}',
    ],
  ];
  test('becomes a Gmail query, and converts to an item id and back', () =>
    everyRow(
      QUERIES,
      ([given]) => JSON.stringify(given),
      ([given, query]) => {
        const filter = readGmailFilter(given);
        expect(gmailQuery(filter)).toBe(query);
        expect(gmailFilterOf(idOfGmailFilter(filter))).toEqual(filter);
      },
    ));

  test('has the same item id as a filter with equal conditions', () => {
    const ids = [
      { key: 'is', value: 'starred' },
      { value: ' STARRED ', negate: false, key: 'is' },
    ].map((given) => idOfGmailFilter(readGmailFilter(given)));
    expect(ids[0]).toMatch(/^filter:[\w-]+$/);
    expect(ids[1]).toBe(ids[0]);
  });
});

describe('an invalid filter', () => {
  const nest = (levels: number): unknown =>
    levels === 0 ? { key: 'is', value: 'unread' } : { AND: [nest(levels - 1)] };
  const condition = { key: 'is', value: 'unread' };
  const INVALID: readonly (readonly [string, unknown, readonly (string | number)[]])[] = [
    ['no object', [], []],
    ['no key', { value: 'x' }, ['key']],
    ['an unknown key', { key: 'subject', value: 'x' }, ['key']],
    ['a property of Object.prototype as key', { key: 'constructor', value: 'x' }, ['key']],
    ['no value', { key: 'label' }, ['value']],
    ['a value that is not a text', { key: 'label', value: 7 }, ['value']],
    ['a blank value', { key: 'label', value: ' ' }, ['value']],
    ['quotation marks', { key: 'from', value: 'a" in:trash "' }, ['value']],
    ['a line end', { key: 'from', value: 'a\nb' }, ['value']],
    ['a value too long', { key: 'from', value: 'a'.repeat(321) }, ['value']],
    ['no date', { key: 'after', value: 'yesterday' }, ['value']],
    ['another date format', { key: 'after', value: '2024-01-07' }, ['value']],
    ['an invalid day', { key: 'before', value: '2023/02/29' }, ['value']],
    ['an unknown state', { key: 'is', value: 'muted' }, ['value']],
    ['the trash', { key: 'in', value: 'trash' }, ['value']],
    ['an unknown value of has', { key: 'has', value: 'drive' }, ['value']],
    ['an invalid negation', { ...condition, negate: 'yes' }, ['negate']],
    ['an unknown property', { ...condition, nagate: true }, ['nagate']],
    ['AND and OR', { AND: [condition], OR: [condition] }, []],
    ['a group with a key', { AND: [condition], key: 'is' }, []],
    ['a negated group', { OR: [condition], negate: true }, []],
    ['an empty group', { AND: [] }, ['AND']],
    ['a group that is not a list', { OR: condition }, ['OR']],
    [
      'a nested invalid condition',
      { AND: [condition, { OR: [condition, { key: 'to' }] }] },
      ['AND', 1, 'OR', 1, 'value'],
    ],
    ['six levels', nest(6), ['AND', 0, 'AND', 0, 'AND', 0, 'AND', 0, 'AND', 0]],
    ['too many', { OR: Array.from({ length: 51 }, () => condition) }, ['OR', 50]],
    ['too long in total', { OR: Array.from({ length: 20 }, () => ({ key: 'from', value: 'a'.repeat(320) })) }, []],
  ];
  test('is rejected with the path of the error', () =>
    everyRow(
      INVALID,
      ([what]) => what,
      ([, given, path]) => {
        const read = () => readGmailFilter(given);
        expect(read).toThrow(FilterError);
        expect(read).toThrow(expect.objectContaining({ path, message: expect.stringMatching(/\w/) }));
      },
    ));

  test('has more than five levels: five are accepted', () => {
    expect(readGmailFilter(nest(5))).toEqual(nest(5));
  });

  test('is rejected in an item id, too', () => {
    for (const text of [
      '{"key":"in","value":"trash"}',
      '[]',
      'null',
      '"x"',
      '{"key":"from","value":"a\\" in:trash"}',
      '{',
    ])
      expect(gmailFilterOf(`filter:${Buffer.from(text).toString('base64url')}`)).toBeUndefined();
    expect(gmailFilterOf('a1')).toBeUndefined();
  });
});
