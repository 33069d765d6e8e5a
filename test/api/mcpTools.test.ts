/**
 * Tests of the requests that MCP tools send to API operations, and of the results that they return from the answers.
 */
import { expect, test } from '@jest/globals';

import { readResource } from '../../api/mcp/resources.js';
import { listFiles } from '../../api/mcp/tools/listFiles.js';
import { syncStatus } from '../../api/mcp/tools/syncStatus.js';
import type { Tool } from '../../api/mcp/tool.js';
import { RUN_STATES, type RunState } from '../../store/runs/list.js';
import { everyRow } from '../support/everyRow.js';

/** Runs a tool with validated arguments; every operation gives the same answer. */
async function run<T>(tool: Tool, input: object, answer: object, mostCharacters = 100_000) {
  const requests: unknown[] = [];
  const agent = {
    caller: { organizationId: 1, userId: 2 },
    deps: {
      settings: { mcpMaxResultCharacters: mostCharacters },
      store: { files: { byIds: () => Promise.resolve([{ syncStatus: 'READY', syncErrorMessage: null }]) } },
    },
    perform: (_operation: unknown, request: unknown) => {
      requests.push(request);
      return Promise.resolve(answer);
    },
  };
  const value = tool.input.validate(input).value as never;
  return { result: (await tool.run(value, agent as never)) as T, requests };
}

const runOf = (status: RunState) => ({ id: 7, kind: 'webScrape', status, counts: {} });
const ENDED: readonly RunState[] = ['finished', 'failed', 'aborted'];

test('sync_status returns is_done only if every listed run has ended', () =>
  everyRow(RUN_STATES, String, async (status) => {
    const answer = { results: [runOf('finished'), runOf(status)], count: 2 };
    const { result } = await run<{ is_done: boolean }>(syncStatus, {}, answer);
    expect(result.is_done).toBe(ENDED.includes(status));
  }));

test('sync_status lists the latest runs of the user, or of one file, and returns the next offset', async () => {
  const answer = { results: [runOf('finished'), runOf('failed')], count: 9 };
  const latest = await run<{ more: string; file: unknown }>(syncStatus, { limit: 2, offset: 4 }, answer);
  expect(latest.requests).toEqual([{ query: { limit: '2', offset: '4' } }]);
  expect([latest.result.more, latest.result.file]).toEqual([expect.stringContaining('offset 6'), null]);
  const ofFile = await run<{ file: object }>(syncStatus, { file_id: 5 }, answer);
  expect(ofFile.requests).toEqual([{ query: { limit: '10', offset: '0', file_id: '5' } }]);
  expect(ofFile.result.file).toEqual({ status: 'READY', error: null });
  const lastPage = await run<{ more: string | null }>(syncStatus, { offset: 7 }, answer);
  expect(lastPage.result.more).toBeNull();
});

test('is_done of sync_status considers all runs, even those that do not fit into the result', async () => {
  const answer = { results: [runOf('finished'), runOf('running')], count: 2 };
  const { result } = await run<{ is_done: boolean; runs: unknown[] }>(syncStatus, {}, answer, 1_100);
  expect([result.runs.length, result.is_done]).toEqual([1, false]);
});

const recordOf = (id: number) => ({ id, name: `file ${id}`, source: 'TEXT', sync_status: 'READY' });

/** Arguments of list_files, and the filters that they become. */
const FILTERS: readonly (readonly [input: object, filters: object])[] = [
  [{}, {}],
  [{ name: 'a' }, { name: 'a' }],
  [{ sources: ['BOX'] }, { source: ['BOX'] }],
  [{ tags: { team: ['red', 'blue'] } }, { tags: { team: ['red', 'blue'] } }],
  [{ statuses: ['SYNC_ERROR'] }, { sync_statuses: ['SYNC_ERROR'] }],
  [{ parent_id: 5 }, { parent_file_ids: [5] }],
];

test('list_files filters by every argument, and continues after the last file that fits', () =>
  everyRow(FILTERS, JSON.stringify, async ([input, filters]) => {
    const answer = { results: [recordOf(11), recordOf(12)], count: 3 };
    const { result, requests } = await run<{ more: string }>(listFiles, { ...input, limit: 2, after_id: 10 }, answer);
    expect(requests).toEqual([{ body: { filters, order_by: 'id', pagination: { limit: 2, starting_id: 10 } } }]);
    expect(result.more).toContain('after_id 12');
    const cut = await run<{ more: string; files: unknown[] }>(listFiles, input, { ...answer, count: 2 }, 1_100);
    expect([cut.result.files.length, cut.result.more]).toEqual([1, expect.stringContaining('after_id 11')]);
    const whole = await run<{ more: string | null }>(listFiles, input, { ...answer, count: 2 });
    expect(whole.result.more).toBeNull();
  }));

test('a text resource reads only as much of a long text as one result may have', async () => {
  const lengths: number[] = [];
  const text = 'a'.repeat(99) + '\u{1F600}'.repeat(20_000);
  const file = { ...{ _id: 5, generation: 1, hasText: true, name: 'long', source: 'TEXT' }, externalUrl: null };
  const agent = {
    caller: { organizationId: 1, userId: 2 },
    deps: {
      settings: { mcpMaxResultCharacters: 10_000 },
      store: {
        files: { byIds: () => Promise.resolve([file]) },
        chunks: {
          lastPage: () => Promise.resolve(null),
          textFrom(_owner: object, offset: number, length: number) {
            lengths.push(length);
            return Promise.resolve(text.slice(offset, offset + length) || null);
          },
        },
      },
    },
  };
  let uri: string | undefined = 'allotrope://files/5';
  let read = '';
  while (uri !== undefined) {
    const { contents } = await readResource(uri, agent as never);
    const [part] = contents as { text: string; _meta: { next?: string } }[];
    expect(part!.text.isWellFormed()).toBe(true);
    read += part!.text;
    uri = part!._meta.next;
  }
  expect(read).toBe(text);
  expect(lengths.length).toBeGreaterThan(3);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(10_000);
});
