import { describe, expect, test } from '@jest/globals';

import { gmailQuery } from '../../connectors/google/gmail/query.js';
import { FilterError } from '../../contract/filterTree.js';
import { gmailFilterOf, idOfGmailFilter, readGmailFilter } from '../../contract/gmailFilters.js';
import { everyRow } from '../support/everyRow.js';

/** 7 January 2024, midnight in UTC, in seconds. */
const DAY = 1_704_585_600;

describe('in the words of Gmail', () => {
  const WORDS: readonly (readonly [unknown, string])[] = [
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
    // What would be an operator, a group or a negation by itself is nothing but a text.
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
  test('says every filter, and has it as an item', () =>
    everyRow(
      WORDS,
      ([given]) => JSON.stringify(given),
      ([given, words]) => {
        const filter = readGmailFilter(given);
        expect(gmailQuery(filter)).toBe(words);
        // As an item, and back.
        expect(gmailFilterOf(idOfGmailFilter(filter))).toEqual(filter);
      },
    ));

  test('the same conditions have the same id, however they were written', () => {
    const ids = [
      { key: 'is', value: 'starred' },
      { value: ' STARRED ', negate: false, key: 'is' },
    ].map((given) => idOfGmailFilter(readGmailFilter(given)));
    expect(ids[0]).toMatch(/^filter:[\w-]+$/);
    expect(ids[1]).toBe(ids[0]);
  });
});

describe('what means nothing is named by its path', () => {
  const nest = (levels: number): unknown =>
    levels === 0 ? { key: 'is', value: 'unread' } : { AND: [nest(levels - 1)] };
  const one = { key: 'is', value: 'unread' };
  const WRONG: readonly (readonly [string, unknown, readonly (string | number)[]])[] = [
    ['no object', [], []],
    ['no key', { value: 'x' }, ['key']],
    ['an unknown key', { key: 'subject', value: 'x' }, ['key']],
    ['a key of every object', { key: 'constructor', value: 'x' }, ['key']],
    ['no value', { key: 'label' }, ['value']],
    ['a value that is no text', { key: 'label', value: 7 }, ['value']],
    ['a blank value', { key: 'label', value: ' ' }, ['value']],
    ['quotation marks', { key: 'from', value: 'a" in:trash "' }, ['value']],
    ['a line end', { key: 'from', value: 'a\nb' }, ['value']],
    ['a value too long', { key: 'from', value: 'a'.repeat(321) }, ['value']],
    ['no date', { key: 'after', value: 'yesterday' }, ['value']],
    ['another form of date', { key: 'after', value: '2024-01-07' }, ['value']],
    ['a day that is none', { key: 'before', value: '2023/02/29' }, ['value']],
    ['an unknown state', { key: 'is', value: 'muted' }, ['value']],
    ['the trash', { key: 'in', value: 'trash' }, ['value']],
    ['something else to have', { key: 'has', value: 'drive' }, ['value']],
    ['a negation that is none', { ...one, negate: 'yes' }, ['negate']],
    ['something more', { ...one, nagate: true }, ['nagate']],
    ['AND and OR', { AND: [one], OR: [one] }, []],
    ['a group with a key', { AND: [one], key: 'is' }, []],
    ['a negated group', { OR: [one], negate: true }, []],
    ['a group of nothing', { AND: [] }, ['AND']],
    ['a group that is no list', { OR: one }, ['OR']],
    ['a wrong one far inside', { AND: [one, { OR: [one, { key: 'to' }] }] }, ['AND', 1, 'OR', 1, 'value']],
    ['six levels', nest(6), ['AND', 0, 'AND', 0, 'AND', 0, 'AND', 0, 'AND', 0]],
    ['too many', { OR: Array.from({ length: 51 }, () => one) }, ['OR', 50]],
    ['too long together', { OR: Array.from({ length: 20 }, () => ({ key: 'from', value: 'a'.repeat(320) })) }, []],
  ];
  test('whatever it is', () =>
    everyRow(
      WRONG,
      ([what]) => what,
      ([, given, path]) => {
        const read = () => readGmailFilter(given);
        expect(read).toThrow(FilterError);
        expect(read).toThrow(expect.objectContaining({ path, message: expect.stringMatching(/\w/) }));
      },
    ));

  test('five levels are fine', () => {
    expect(readGmailFilter(nest(5))).toEqual(nest(5));
  });

  test('an id that somebody wrote by hand is read as carefully', () => {
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
