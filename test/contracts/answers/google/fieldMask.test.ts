import { expect, test } from '@jest/globals';

import type { Contract } from '../../contract.js';
import { readMask } from './fieldMask.js';
import { eitherOf, integer, listOf, object, oneOf, text } from '../shape.js';
import { type AnswerTable, answerProblems } from '../table.js';

const SHIP = object({ id: integer, name: text, master: object({ name: text, age: integer }, ['name', 'age']) }, [
  'id',
  'name',
]);
const EVENT = eitherOf(
  object({ type: oneOf('sailed'), ship: SHIP }, ['type', 'ship']),
  object({ type: oneOf('sank'), at: integer }, ['type', 'at']),
);
const CONTRACT: Contract = {
  ...{ name: 'harbour', source: 'Harbour', specification: 'https://a.example', version: '1', takenOn: '2026-11-27' },
  address: 'api',
  operations: { 'GET /ships': {}, 'GET /events': {} },
};
const TABLE: AnswerTable = {
  ...CONTRACT,
  masks: { 'GET /ships': 'ships(id)' },
  refusal: object({ code: text }, ['code']),
  operations: {
    'GET /ships': object({ ships: listOf(SHIP), next: text }, ['ships']),
    'GET /events': listOf(EVENT),
  },
};
const answered = (path: string, sent: unknown, status = 200): string[] =>
  answerProblems(TABLE, CONTRACT, path.replace(/\?.*/, ''), {
    ...{ method: 'GET', url: `https://a.example${path}`, status, text: JSON.stringify(sent) },
  }).map((problem) => problem.replace(/^GET \/\w+ \d+: /, ''));

test('reads lists, paths, nested lists and wildcards', () => {
  expect(readMask('*')).toBeNull();
  expect(readMask('a,b(c,d/e),f/*')).toEqual(
    new Map([
      ['a', null],
      [
        'b',
        new Map([
          ['c', null],
          ['d', new Map([['e', null]])],
        ]),
      ],
      ['f', null],
    ]),
  );
  for (const wrong of ['', 'a,', 'a(b', 'a)b', 'a b']) expect(() => readMask(wrong)).toThrow(SyntaxError);
});

test('allows and requires the selected fields only', () => {
  const fields = '/ships?fields=ships(id,master/name)';
  expect(answered(fields, { ships: [{ id: 1, master: { name: 'Ada' } }] })).toEqual([]);
  expect(answered(fields, { ships: [{ id: 1 }] })).toEqual([]);
  expect(answered(fields, { ships: [{ master: { name: 'Ada', age: 7 } }], next: 'x' })).toEqual([
    'answer.ships[].id is missing',
    'answer.ships[].master.age is not in the specification',
    'answer.next is not in the specification',
  ]);
  expect(answered('/ships?fields=*', { ships: [{ id: 1 }] })).toEqual(['answer.ships[].name is missing']);
});

test('applies the default selection of an operation, but not to refusals', () => {
  expect(answered('/ships', { ships: [{ id: 1 }] })).toEqual([]);
  expect(answered('/ships', { ships: [{ id: 1, name: 'Ada' }] })).toEqual([
    'answer.ships[].name is not in the specification',
  ]);
  expect(answered('/ships', { ships: [] }, 404)).toEqual([
    'answer.code is missing',
    'answer.ships is not in the specification',
  ]);
});

test('reports selected fields that the specification does not have', () => {
  expect(answered('/ships?fields=ships(id,colour),anchor', { ships: [] })).toEqual([
    'fields selects ships/colour, not in the specification',
    'fields selects anchor, not in the specification',
  ]);
  expect(answered('/ships?fields=ships(id', { ships: [] })).toEqual(['fields is ships(id: no closing parenthesis']);
  expect(answered('/events?fields=type,at,ship/id', [{ type: 'sank', at: 1 }])).toEqual([]);
  expect(answered('/events?fields=type,ship/depth', [])).toEqual([
    'fields selects ship/depth, not in the specification',
  ]);
});

test('compares a value with the most similar of several shapes', () => {
  expect(
    answered('/events', [
      { type: 'sank', at: 1 },
      { type: 'sailed', ship: { id: 1, name: 'Ada' } },
    ]),
  ).toEqual([]);
  expect(answered('/events', [{ type: 'sank' }])).toEqual(['answer[].at is missing']);
  expect(answered('/events', [null])).toEqual(['answer[] is null, not object']);
});
