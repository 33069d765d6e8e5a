import { describe, expect, test } from '@jest/globals';

import { everyRow } from '../../support/everyRow.js';
import { CONTRACTS } from '../tables/index.js';
import { type Contract } from '../contract.js';
import { ANSWERS } from './index.js';
import {
  each,
  eitherOf,
  flag,
  integer,
  listOf,
  timestamp,
  number,
  object,
  objectBy,
  oneOf,
  orNull,
  shapeProblems,
  text,
} from './shape.js';
import { type AnswerTable, answerProblems } from './table.js';
import { valueOfXml } from './xml.js';

const SHIP = object(
  {
    ...each(text, 'name', 'flag'),
    kind: oneOf('barge', 'tug'),
    ...each(integer, 'id', 'crew'),
    ...each(number, 'draught'),
    isMoored: flag,
    master: orNull(object({ name: text }, ['name'])),
    ports: listOf(text),
    built: timestamp,
  },
  ['id', 'name'],
);
const problems = (ship: object): string[] => shapeProblems(SHIP, { id: 1, name: 'Ada', ...ship }, 'ship');

test('accepts values that the schema allows', () => {
  expect(problems({ draught: 2, master: null, ports: [], kind: 'tug', built: '2026-11-26T22:00:00.5+0000' })).toEqual(
    [],
  );
  expect(problems({ draught: 2.5, master: { name: 'Ben' }, isMoored: false })).toEqual([]);
});

test.each([
  [{ crew: '7' }, 'ship.crew is string, not integer'],
  [{ crew: 7.5 }, 'ship.crew is number, not integer'],
  [{ flag: null }, 'ship.flag is null, not string'],
  [{ isMoored: 'yes' }, 'ship.isMoored is string, not boolean'],
  [{ kind: 'raft' }, 'ship.kind is raft, none of barge, tug'],
  [{ built: '2026-11-26' }, /ship\.built is 2026-11-26, which does not match/],
  [{ ports: ['west', 2, 3] }, 'ship.ports[] is integer, not string'],
  [{ ports: {} }, 'ship.ports is object, not array'],
  [{ master: {} }, 'ship.master.name is missing'],
  [{ master: [] }, 'ship.master is array, not object'],
  [{ colour: 'red' }, 'ship.colour is not in the specification'],
])('reports the difference of %j', (ship, problem) => {
  expect(problems(ship)).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
});

test('compares an object with the variant that one of its fields names', () => {
  const shape = objectBy('type', { sail: object({ area: number }, ['area']), oar: object({}) }, { id: integer }, [
    'id',
  ]);
  const found = (value: object): string[] => shapeProblems(shape, value, 'drive');
  expect(found({ id: 1, type: 'sail', area: 7.5 })).toEqual([]);
  expect(found({ id: 1, type: 'oar' })).toEqual([]);
  expect(found({ type: 'sail' })).toEqual(['drive.id is missing', 'drive.area is missing']);
  expect(found({ id: 1, type: 'oar', area: 1 })).toEqual(['drive.area is not in the specification']);
  expect(found({ id: 1, type: 'steam' })).toEqual(['drive.type is steam, none of sail, oar']);
  expect(found({ id: 1 })).toEqual(['drive.type is undefined, none of sail, oar']);
});

const CONTRACT: Contract = {
  ...{ name: 'harbour', source: 'Harbour', specification: 'https://a.example', version: '1', takenOn: '2026-11-26' },
  ...{
    address: 'api',
    ignoredPaths: '^/files/',
    operations: { 'GET /ships': {}, 'GET /ships/{id}': {}, 'GET /ships/{id}/photo': {} },
  },
};
const TABLE: AnswerTable = {
  ...{ name: 'harbour', specification: 'https://a.example', version: '1', takenOn: '2026-11-26', selection: 'fields' },
  refusal: object({ code: text }, ['code']),
  textRefusals: [400],
  operations: {
    'GET /ships': { ...object({ ships: listOf(SHIP) }, ['ships']), isPage: true },
    'GET /ships/{id}': ({ searchParams }) => (searchParams.has('brief') ? text : SHIP),
  },
};
const answered = (path: string, sent: string, status = 200): string[] =>
  answerProblems(TABLE, CONTRACT, path.replace(/\?.*/, ''), {
    method: 'GET',
    url: `https://a.example${path}`,
    status,
    text: sent,
  });

test('requires only the fields that the request selects', () => {
  expect(answered('/ships', '{"ships":[{"name":"Ada"}]}')).toEqual(['GET /ships 200: answer.ships[].id is missing']);
  expect(answered('/ships?fields=name,crew', '{"ships":[{"name":"Ada"}]}')).toEqual([]);
  expect(answered('/ships?fields=id', '{}')).toEqual(['GET /ships 200: answer.ships is missing']);
  expect(answered('/ships/1?fields=id', '{}')).toEqual(['GET /ships/{id} 200: answer.id is missing']);
});

test('compares refusals and shapes that depend on the request, and accepts only some bodies other than JSON', () => {
  expect(answered('/ships/1', '{"error":1}', 404)).toEqual([
    'GET /ships/{id} 404: answer.code is missing',
    'GET /ships/{id} 404: answer.error is not in the specification',
  ]);
  expect(answered('/ships/1?brief=1', '"Ada"')).toEqual([]);
  expect(answered('/ships/1', 'no', 400)).toEqual([]);
  expect(answered('/files/1', 'no', 404)).toEqual([]);
  expect(answered('/ships/1', '<html>')).toEqual(['GET /ships/{id} 200: the answer is not JSON']);
  expect(answered('/ships/1/photo', 'bytes')).toEqual([]);
  expect(answered('/ships/1', '', 302)).toEqual([]);
  expect(answered('/ships/1', '', 204)).toEqual([]);
});

describe('an answer in XML', () => {
  const port = object({ '@harbour': text, '#text': text }, ['@harbour', '#text']);
  const shape = object(
    {
      Fleet: object(
        {
          '@xmlns': oneOf('https://a.example/'),
          Ships: object({ Ship: listOf(object({ Name: eitherOf(text, port), Crew: integer }, ['Name'])) }),
          Port: listOf(text),
          IsWhole: flag,
        },
        ['IsWhole'],
      ),
    },
    ['Fleet'],
  );
  const differences = (inner: string): string[] => {
    const whole = `\uFEFF<?xml version="1.0"?>\n<Fleet xmlns="https://a.example/">\n ${inner}</Fleet>`;
    return shapeProblems(shape, valueOfXml(whole, shape), 'answer');
  };

  test('is compared by its elements and attributes; single elements may be lists', () => {
    const ship = '<Ship><Name>Ada &amp; Ben</Name><Crew>7</Crew></Ship>';
    const whole = '<IsWhole>true</IsWhole>';
    expect(differences(`<Ships>${ship}</Ships><Port>a</Port>${whole}`)).toEqual([]);
    expect(differences(`<Ships>${ship}${ship}</Ships><Port>a</Port><Port>b</Port>${whole}`)).toEqual([]);
    expect(differences(`<Ships><Ship><Name harbour="west">Ada</Name></Ship></Ships>${whole}`)).toEqual([]);
    expect(differences(`<Ships/>${whole}`)).toEqual([]);
  });

  test.each([
    ['<IsWhole>yes</IsWhole>', 'answer.Fleet.IsWhole is string, not boolean'],
    ['<IsWhole>true</IsWhole><IsWhole>true</IsWhole>', 'answer.Fleet.IsWhole is array, not boolean'],
    ['<IsWhole a="1">true</IsWhole>', 'answer.Fleet.IsWhole is object, not boolean'],
    ['<IsWhole><Yes/></IsWhole>', 'answer.Fleet.IsWhole is object, not boolean'],
    ['<IsWhole>true</IsWhole><Ships><Ship><Crew>7</Crew></Ship></Ships>', 'answer.Fleet.Ships.Ship[].Name is missing'],
    ['<Ships/>', 'answer.Fleet.IsWhole is missing'],
    ['<IsWhole>true</IsWhole>text', 'answer.Fleet.#text is not in the specification'],
  ])('reports the difference of %s', (inner, problem) => {
    expect(differences(inner)).toEqual([problem]);
  });

  test('is reported as a difference if it is not well-formed', () => {
    const table: AnswerTable = { ...TABLE, isXml: true };
    const answer = { method: 'GET', url: 'https://a.example/ships', status: 200, text: '<Fleet>' };
    expect(answerProblems(table, CONTRACT, '/ships', answer)).toEqual(['GET /ships 200: the answer is not XML']);
  });
});

test('every table of answers belongs to a table of requests, and states the origin and date of its shapes', () =>
  everyRow(
    ANSWERS,
    ({ name }) => name,
    ({ name, specification, takenOn, operations }) => {
      const contract = CONTRACTS.find((one) => one.name === name);
      expect(Object.keys(contract?.operations ?? {})).toEqual(expect.arrayContaining(Object.keys(operations)));
      expect(specification).toMatch(/^https:\/\//);
      expect(takenOn).toMatch(/^\d{4}-\d\d-\d\d$/);
      return Promise.resolve();
    },
  ));
