import { describe, expect, test } from '@jest/globals';

import { FilterError, isSelection } from '../../contract/sources/filterTree.js';
import { idOfOutlookQuery, outlookQueryOf, readOutlookFilter } from '../../contract/sources/outlookQuery.js';
import { odataFilter } from '../../connectors/microsoft/outlook/odata.js';
import { everyRow } from '../support/everyRow.js';

const condition = (key: string, value: string) => ({ key, value });

/** Expected queries, written by hand from the documentation of Microsoft Graph. */
const QUERIES: readonly (readonly [unknown, string])[] = [
  [condition('category', 'Test'), "categories/any(category:category eq 'Test')"],
  [condition('category', "Ada's"), "categories/any(category:category eq 'Ada''s')"],
  [condition('category', "x') or (1 eq 1"), "categories/any(category:category eq 'x'') or (1 eq 1')"],
  [condition('after', '2024/01/07'), 'receivedDateTime ge 2024-01-07T00:00:00Z'],
  [condition('after', '2024-1-7'), 'receivedDateTime ge 2024-01-07T00:00:00Z'],
  [condition('before', '2024/02/29'), 'receivedDateTime lt 2024-02-29T00:00:00Z'],
  [condition('is', 'flagged'), "flag/flagStatus eq 'flagged'"],
  [condition('is', 'unread'), 'isRead eq false'],
  [condition('is', 'read'), 'isRead eq true'],
  [condition('from', ' grace@harbour.example '), "from/emailAddress/address eq 'grace@harbour.example'"],
  [{ AND: [condition('is', 'read')] }, 'isRead eq true'],
  [{ AND: [condition('is', 'read'), condition('is', 'flagged')] }, "(isRead eq true and flag/flagStatus eq 'flagged')"],
  [
    { AND: [condition('after', '2024/01/07'), { OR: [condition('is', 'flagged'), condition('category', 'A')] }] },
    "(receivedDateTime ge 2024-01-07T00:00:00Z and (flag/flagStatus eq 'flagged' or categories/any(category:category eq 'A')))",
  ],
  [
    {
      OR: [
        { AND: [condition('is', 'read'), condition('from', 'a@b.example')] },
        { AND: [condition('before', '2024/01/01')] },
      ],
    },
    "((isRead eq true and from/emailAddress/address eq 'a@b.example') or receivedDateTime lt 2024-01-01T00:00:00Z)",
  ],
];

test('expresses every filter as a query of Graph', () =>
  everyRow(
    QUERIES,
    ([given]) => JSON.stringify(given),
    ([given, expected]) => {
      const filter = readOutlookFilter(given);
      expect(filter && odataFilter(filter)).toBe(expected);
    },
  ));

describe('a filter tree', () => {
  let deep: object = condition('is', 'read');
  for (let depth = 0; depth < 6; depth += 1) deep = { AND: [deep] };

  const WRONG: readonly (readonly [string, unknown, readonly (string | number)[]])[] = [
    ['an unknown key', condition('subject', 'x'), ['key']],
    ['a property name of Object', condition('constructor', 'x'), ['key']],
    ['a negation, which only Gmail has', { ...condition('from', 'a@b.example'), negate: true }, ['negate']],
    ['no value', { key: 'from' }, ['value']],
    ['an empty value', condition('from', ' '), ['value']],
    ['a value that is not a text', { key: 'from', value: 7 }, ['value']],
    ['a long value', condition('from', 'x'.repeat(301)), ['value']],
    ['an invalid day', condition('after', '2024/02/30'), ['value']],
    ['words for a day', condition('before', 'yesterday'), ['value']],
    ['an unknown state', condition('is', 'starred'), ['value']],
    ['both AND and OR', { AND: [condition('is', 'read')], OR: [condition('is', 'read')] }, []],
    ['AND and a key', { AND: [condition('is', 'read')], key: 'is', value: 'read' }, []],
    ['an empty list', { OR: [] }, ['OR']],
    ['no list', { AND: condition('is', 'read') }, ['AND']],
    [
      'a wrong member',
      { AND: [condition('is', 'read'), { OR: [condition('is', 'lost')] }] },
      ['AND', 1, 'OR', 0, 'value'],
    ],
    ['a member that is not an object', { AND: ['is:read'] }, ['AND', 0]],
    ['an empty member', { AND: [{}] }, ['AND', 0, 'key']],
    ['too many members', { OR: Array.from({ length: 51 }, () => condition('is', 'read')) }, ['OR', 50]],
    ['too deep', deep, ['AND', 0, 'AND', 0, 'AND', 0, 'AND', 0, 'AND', 0]],
    ['a list', [condition('is', 'read')], []],
  ];
  test('is rejected with the path of the fault if it is invalid', () =>
    everyRow(
      WRONG,
      ([what]) => what,
      ([, given, path]) => {
        const read = () => readOutlookFilter(given);
        expect(read).toThrow(FilterError);
        expect(read).toThrow(expect.objectContaining({ path }));
      },
    ));

  test('matches everything if it is empty', () => {
    expect(readOutlookFilter({})).toBeNull();
  });

  test('has a limit on the conditions of all branches together', () => {
    const twentyConditions = { OR: Array.from({ length: 20 }, () => condition('is', 'read')) };
    expect(() => readOutlookFilter({ AND: [twentyConditions, twentyConditions, twentyConditions] })).toThrow(/50/);
  });
});

describe('the id of a query', () => {
  const query = { folder: 'AAMk-_=', filter: readOutlookFilter({ AND: [condition('is', 'read')] }), attachments: true };

  test('contains the whole query, and is equal for equal queries', () => {
    const id = idOfOutlookQuery(query) ?? '';
    expect(isSelection(id)).toBe(true);
    expect(id).toBe(idOfOutlookQuery({ ...query, filter: readOutlookFilter({ AND: [{ value: 'read', key: 'is' }] }) }));
    expect(outlookQueryOf(id)).toEqual(query);
    expect(outlookQueryOf(idOfOutlookQuery({ ...query, filter: null }) ?? '')).toEqual({ ...query, filter: null });
  });

  test('is null if it is too long', () => {
    const filter = readOutlookFilter({ OR: Array.from({ length: 50 }, () => condition('from', 'x'.repeat(300))) });
    expect(idOfOutlookQuery({ ...query, filter })).toBeNull();
  });

  test.each([
    'filter:',
    'filter:bm8',
    `filter:${Buffer.from('{"folder":7,"filter":null}').toString('base64url')}`,
    `filter:${Buffer.from('{"folder":"a","filter":{"key":"is","value":"lost"}}').toString('base64url')}`,
    `filter:${Buffer.from('{"folder":"a"}').toString('base64url')}`,
  ])('is rejected if it is invalid: %s', (id) => {
    expect(outlookQueryOf(id)).toBeNull();
  });
});
