import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

import { CONNECTED_SOURCES } from '../../contract/sources/connectedSources.js';
import { everyRow } from '../support/everyRow.js';
import { ASPECTS, type Observation, type SourceObservations } from './observations/observation.js';
import { OBSERVATIONS } from './observations/index.js';

/** The sources with the most users, of which at least ten observations are recorded. */
const LARGEST = [
  ...['Box', 'Confluence', 'Dropbox', 'GitHub', 'Gmail', 'Google Drive', 'Notion'],
  ...['OneDrive', 'Outlook', 'SharePoint', 'Slack', 'Zendesk'],
];
const ROOT = new URL('../../', import.meta.url);
const ROWS = OBSERVATIONS.flatMap(({ source, observations }) =>
  observations.map((observation) => ({ source, observation })),
);

/** Checks that an observation names its origin, and existing evidence. */
export function checkObservation({ aspect, statement, link, date, evidence }: Observation): void {
  expect(ASPECTS).toContain(aspect);
  expect(statement).toMatch(/^\S.{20,}\.$/);
  expect(link).toMatch(/^https?:\/\/[\w.-]+\/\S+$/);
  expect(date).toMatch(/^20\d\d-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?$/);
  const file = new URL('test' in evidence ? evidence.test[0] : evidence.file, ROOT);
  expect(existsSync(file)).toBe(true);
  if ('test' in evidence) expect(readFileSync(file, 'utf8').replaceAll("\\'", "'")).toContain(evidence.test[1]);
  else expect(evidence.reason).toMatch(/^\S.{15,}\.$/);
}

test('every observation has a link, a date, and a test or file that exists', () =>
  everyRow(
    ROWS,
    ({ source, observation }) => `${source}: ${observation.statement}`,
    ({ observation }) => checkObservation(observation),
  ));

test('rejects an observation whose test or file does not exist', () => {
  const observation: Observation = {
    ...ROWS[0]!.observation,
    evidence: { test: ['test/contracts/observations.test.ts', ['no', 'test'].join(' ')] },
  };
  expect(() => checkObservation(observation)).toThrow();
  expect(() =>
    checkObservation({ ...observation, evidence: { reason: 'It is known to be safe.', file: 'nowhere.ts' } }),
  ).toThrow();
});

test('at least ten different observations are recorded of each of the twelve largest sources', () => {
  const numbers = new Map(
    OBSERVATIONS.map(({ source, observations }: SourceObservations) => [
      source,
      new Set(observations.map(({ statement }) => statement)).size,
    ]),
  );
  expect(LARGEST.filter((source) => (numbers.get(source) ?? 0) < 10)).toEqual([]);
  const names: readonly string[] = Object.values(CONNECTED_SOURCES).map(({ name }) => name);
  expect([...numbers.keys()].filter((source) => !names.includes(source))).toEqual([]);
});
