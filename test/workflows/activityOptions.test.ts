import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { msToNumber } from '@temporalio/common/lib/time.js';
import { ActivityCancellationType, type ActivityOptions } from '@temporalio/workflow';
import ts from 'typescript';

import * as exported from '../../workflows/activityOptions.js';
import { everyRow } from '../support/everyRow.js';

const { UNTIL_STORES_ANSWER, ...options } = exported;
type Group = keyof typeof options;
const GROUPS = Object.entries<ActivityOptions>(options) as [Group, ActivityOptions][];
const nameOf = ([name]: readonly [Group, ...unknown[]]): string => name;

/** Groups of activities without a limit of attempts, with the reason. */
const UNLIMITED: Partial<Record<Group, string>> = {
  COMPUTE: 'Faults of single files do not fail a batch: only an outage or a dead worker does.',
  TRANSCRIBE: 'The activity mostly waits for a service. A lost worker must not fail the recording.',
  NOTIFY: "The receiver's response is an outcome, so only an outage or a dead worker fails a batch of deliveries.",
  STORE: 'Only an outage of a store fails it, and giving up would leave runs unfinished.',
};
/** Groups without heartbeats, with the reason. A dead worker is detected only by the start-to-close timeout. */
const SILENT: Partial<Record<Group, string>> = { STORE: 'Short reads and writes, also run as local activities.' };

const MAX_SILENT_MS = 10_000;
const MAX_HEARTBEAT_MS = 60_000;
const MAX_ATTEMPTS = 10;

test('activities have a maximum number of attempts, except the groups with a reason to retry without limit', () =>
  everyRow(GROUPS, nameOf, ([name, { retry }]) => {
    if (name in UNLIMITED) return expect(retry).toBe(UNTIL_STORES_ANSWER);
    expect(retry?.maximumAttempts).toBeGreaterThan(0);
    expect(retry?.maximumAttempts).toBeLessThanOrEqual(MAX_ATTEMPTS);
  }));

test('retries wait longer each time, up to a few minutes', () =>
  everyRow(GROUPS, nameOf, ([, { retry }]) => {
    expect(retry?.backoffCoefficient).toBeGreaterThanOrEqual(2);
    expect(msToNumber(retry!.initialInterval!)).toBeGreaterThanOrEqual(1_000);
    expect(msToNumber(retry!.maximumInterval!)).toBeLessThanOrEqual(5 * 60_000);
  }));

test('a long activity has a heartbeat timeout far below its start-to-close timeout; others time out within seconds', () =>
  everyRow(GROUPS, nameOf, ([name, { startToCloseTimeout, heartbeatTimeout }]) => {
    const longestMs = msToNumber(startToCloseTimeout!);
    if (name in SILENT) {
      expect(heartbeatTimeout).toBeUndefined();
      return expect(longestMs).toBeLessThanOrEqual(MAX_SILENT_MS);
    }
    const silentMs = msToNumber(heartbeatTimeout ?? 0);
    expect(silentMs).toBeGreaterThan(0);
    expect(silentMs).toBeLessThanOrEqual(MAX_HEARTBEAT_MS);
    expect(silentMs * 10).toBeLessThanOrEqual(longestMs);
  }));

test('a cancelled run waits for the end of its activities', () =>
  everyRow(GROUPS, nameOf, ([, { cancellationType }]) =>
    expect(cancellationType).toBe(ActivityCancellationType.WAIT_CANCELLATION_COMPLETED),
  ));

test('the lists of exceptions contain only existing groups', () => {
  const names = GROUPS.map(nameOf);
  expect(names).toEqual(expect.arrayContaining([...Object.keys(UNLIMITED), ...Object.keys(SILENT)]));
});

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const sourcesIn = (folder: string): ts.SourceFile[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => {
      const text = readFileSync(path.join(ROOT, folder, file), 'utf8');
      return ts.createSourceFile(`${folder}/${file}`, text, ts.ScriptTarget.Latest, true);
    });
function* nodesIn(node: ts.Node): Iterable<ts.Node> {
  yield node;
  for (const child of node.getChildren()) yield* nodesIn(child);
}
const allNodes = (folder: string): ts.Node[] => sourcesIn(folder).flatMap((file) => [...nodesIn(file)]);

/** An activity, and the options with which a workflow calls it. */
interface Proxied {
  readonly activity: string;
  /** The name of the group of options, or the source text of other options. */
  readonly group: string;
  readonly isLocal: boolean;
}

/** Returns the name of a group of options, also if a local constant spreads the group and changes the task queue. */
function groupOf(call: ts.CallExpression): string {
  const optionsText = call.arguments[0]?.getText() ?? 'no options';
  const declared = [...nodesIn(call.getSourceFile())].find(
    (node): node is ts.VariableDeclaration => ts.isVariableDeclaration(node) && node.name.getText() === optionsText,
  )?.initializer;
  const routed = /^\{ \.\.\.(\w+), taskQueue: [^,]+ \}$/.exec(declared?.getText() ?? '');
  return routed?.[1] ?? optionsText;
}

const PROXIED: readonly Proxied[] = allNodes('workflows').flatMap((node): Proxied[] => {
  if (!ts.isCallExpression(node) || !/^proxy(?:Local)?Activities$/.test(node.expression.getText())) return [];
  const shared = { group: groupOf(node), isLocal: node.expression.getText() === 'proxyLocalActivities' };
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return [{ activity: parent.name.text, ...shared }];
  if (!ts.isVariableDeclaration(parent)) return [{ activity: node.getText(), ...shared }];
  if (!ts.isObjectBindingPattern(parent.name)) return [{ activity: parent.name.getText(), ...shared }];
  return parent.name.elements.map((element) => ({ activity: element.name.getText(), ...shared }));
});

test('workflows call activities only with the options of a group, and local activities only with STORE', () =>
  everyRow(
    PROXIED,
    ({ activity }) => activity,
    ({ group, isLocal }) => {
      expect(Object.keys(options)).toContain(group);
      if (isLocal) expect(SILENT).toHaveProperty(group);
    },
  ));

test('an activity that reacts to its cancellation has a heartbeat timeout, because heartbeats report cancellations', () =>
  everyRow(
    allNodes('activities').filter(
      (node): node is ts.MethodDeclaration =>
        ts.isMethodDeclaration(node) && node.getText().includes('cancellationSignal()'),
    ),
    (node) => node.name.getText(),
    (node) => {
      const calls = PROXIED.filter(({ activity }) => activity === node.name.getText());
      expect(calls).not.toEqual([]);
      expect(calls.filter(({ group }) => group in SILENT)).toEqual([]);
    },
  ));
