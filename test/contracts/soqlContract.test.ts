import { expect, test } from '@jest/globals';

import { shapeProblems } from './answers/shape.js';
import { answerOf, soqlProblem } from './soqlContract.js';

test.each([
  "SELECT Id, Title, LatestPublishedVersion.ContentLocation FROM ContentDocument WHERE Id IN ('FROM x', 'b') ORDER BY Id LIMIT 2",
  'SELECT COUNT() FROM Account',
  "SELECT Id, Answer__c FROM Knowledge__kav WHERE PublishStatus = 'It\\'s = online' AND Id > '' ORDER BY Id LIMIT 200",
  "SELECT Id, (SELECT Id, Subject FROM Tasks), (SELECT Id, Location FROM Events) FROM Lead WHERE (Name LIKE 'a%' OR Fax = null)",
  'SELECT Id FROM Contact ORDER BY LastActivityDate DESC NULLS LAST, Id LIMIT 5',
])('accepts %s', (soql) => {
  expect(soqlProblem(soql)).toBeNull();
});

test.each([
  ['SELECT Id, Colour FROM Account', /names Account\.Colour/],
  ['SELECT Id FROM Ship', /names object Ship/],
  ["SELECT Id FROM Account WHERE Colour = 'red'", /names Account\.Colour/],
  ['SELECT Id FROM Account ORDER BY Colour DESC', /names Account\.Colour/],
  [
    'SELECT Id, LatestPublishedVersion.Colour FROM ContentDocument',
    /names ContentDocument\.LatestPublishedVersion\.Colour/,
  ],
  ['SELECT Id, (SELECT Colour FROM Tasks) FROM Lead', /names Task\.Colour/],
  ['FIND {x}', /is not a query/],
])('reports what is wrong in %s', (soql, problem) => {
  expect(soqlProblem(soql)).toMatch(problem);
});

test('requires the selected fields, types and addresses of the records and of their related records', () => {
  const shape = answerOf('SELECT Id, IsDeleted, (SELECT Id FROM Tasks) FROM Account LIMIT 1');
  const attributes = { type: 'Account', url: '/services/data/v67.0/sobjects/Account/1' };
  const row = { attributes, Id: '1', IsDeleted: false, Tasks: null };
  const check = (record: object) => shapeProblems(shape, { totalSize: 1, done: true, records: [record] }, 'answer');
  expect(check(row)).toEqual([]);
  expect(check({ ...row, IsDeleted: null })).toEqual(['answer.records[].IsDeleted is null, not boolean']);
  expect(check({ ...row, Name: 'Ada' })).toEqual(['answer.records[].Name is not in the specification']);
  expect(check({ ...row, Tasks: { records: [{ Id: '2' }] } })).toEqual([
    'answer.records[].Tasks.totalSize is missing',
    'answer.records[].Tasks.done is missing',
    'answer.records[].Tasks.records[].attributes is missing',
  ]);
});
