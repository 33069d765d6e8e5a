import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

import { CONNECTED_SOURCES } from '../../contract/sources/connectedSources.js';
import { everyRow } from '../support/everyRow.js';
import { ASPECTS, type Observation, type SourceObservations } from './observations/observation.js';
import { OBSERVATIONS } from './observations/index.js';

/** The sources with the most users, of which at least ten facts are known. */
const LARGEST = [
  ...['Box', 'Confluence', 'Dropbox', 'GitHub', 'Gmail', 'Google Drive', 'Notion'],
  ...['OneDrive', 'Outlook', 'SharePoint', 'Slack', 'Zendesk'],
];
const ROOT = new URL('../../', import.meta.url);
const FACTS = OBSERVATIONS.flatMap(({ source, facts }) => facts.map((fact) => ({ source, fact })));

/** Checks that a fact names its origin, and existing evidence. */
export function checkFact({ about, fact, seen, date, ours }: Observation): void {
  expect(ASPECTS).toContain(about);
  expect(fact).toMatch(/^\S.{20,}\.$/);
  expect(seen).toMatch(/^https?:\/\/[\w.-]+\/\S+$/);
  expect(date).toMatch(/^20\d\d-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?$/);
  const file = new URL('test' in ours ? ours.test[0] : ours.in, ROOT);
  expect(existsSync(file)).toBe(true);
  if ('test' in ours) expect(readFileSync(file, 'utf8').replaceAll("\\'", "'")).toContain(ours.test[1]);
  else expect(ours.safe).toMatch(/^\S.{15,}\.$/);
}

test('every fact has a link, a date, and a test or file that exists', () =>
  everyRow(
    FACTS,
    ({ source, fact }) => `${source}: ${fact.fact}`,
    ({ fact }) => checkFact(fact),
  ));

test('rejects a fact without evidence', () => {
  const fact: Observation = {
    ...FACTS[0]!.fact,
    ours: { test: ['test/contracts/observations.test.ts', ['no', 'test'].join(' ')] },
  };
  expect(() => checkFact(fact)).toThrow();
  expect(() => checkFact({ ...fact, ours: { safe: 'It is known to be safe.', in: 'nowhere.ts' } })).toThrow();
});

test('at least ten different facts are known of each of the twelve largest sources', () => {
  const numbers = new Map(
    OBSERVATIONS.map(({ source, facts }: SourceObservations) => [source, new Set(facts.map((one) => one.fact)).size]),
  );
  expect(LARGEST.filter((source) => (numbers.get(source) ?? 0) < 10)).toEqual([]);
  const names: readonly string[] = Object.values(CONNECTED_SOURCES).map(({ name }) => name);
  expect([...numbers.keys()].filter((source) => !names.includes(source))).toEqual([]);
});
