/**
 * Tests of the requests that MCP tools send to API operations, and of the results that they return from the answers.
 */
import { expect, test } from '@jest/globals';

import { HttpError } from '../../api/http/errors.js';
import { cutText } from '../../api/mcp/bounds.js';
import { asContent } from '../../api/mcp/content.js';
import { promptOf } from '../../api/mcp/prompts.js';
import { readResource } from '../../api/mcp/resources.js';
import { describedTool } from '../../api/mcp/tools/index.js';
import { fileOf, listFiles } from '../../api/mcp/tools/listFiles.js';
import { search } from '../../api/mcp/tools/search.js';
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

/** Calls `search` with a store whose files are found by `ids`. @returns the result, and the bodies of the searches */
async function searchWith(
  input: object,
  answer: (body: { exclude_cold_storage_files?: boolean; k: number }) => object | Promise<object>,
  ids: (filters: Record<string, unknown>) => number[] = () => [1],
  maxCharacters = 100_000,
) {
  const requests: Record<string, unknown>[] = [];
  const agent = {
    caller: { organizationId: 1, userId: 2 },
    deps: {
      settings: { mcpMaxResultCharacters: maxCharacters },
      store: { files: { ids: (_caller: object, filters: never) => Promise.resolve(ids(filters)) } },
    },
    perform: async (_operation: unknown, { body }: { body: never }) => {
      requests.push(body);
      return answer(body);
    },
  };
  const { value, error } = search.input.validate({ query: 'q', ...input }, { convert: false });
  if (error) throw error;
  const result = (await search.run(value as never, agent as never)) as { passages: object[]; more: string | null };
  return { result, requests };
}
const passagesOf = (count: number) => ({
  documents: Array.from({ length: count }, (_, index) => ({ rank: index + 1, file_id: 7, content: 'text' })),
});

test('every offset that search returns is accepted by it, and the last one reaches the 500th passage', async () => {
  const { result } = await searchWith({ offset: 448, limit: 8 }, ({ k }) => passagesOf(k));
  expect(result.more).toContain('offset 456');
  const last = await searchWith({ offset: 499, limit: 50 }, ({ k }) => passagesOf(k));
  expect(last.requests).toMatchObject([{ k: 500 }]);
  expect(last.result.passages).toHaveLength(1);
  expect(last.result.more).not.toContain('offset');
  expect(search.input.validate({ query: 'q', offset: 500 }).error).toBeDefined();
});

test('search applies its filters to the requested files and to all files below them', async () => {
  const below = Array.from({ length: 10_000 }, (_, index) => 100 + index);
  const isNew = (id: number) => id === 5 || id > 10_097;
  const ids = ({ ids: named, createdFrom }: Record<string, unknown>) =>
    ((named as number[] | undefined) ?? below).filter((id) => createdFrom === undefined || isNew(id)).slice(0, 9_999);
  const { requests } = await searchWith({ file_ids: [5], created_from: '2026-01-01' }, () => passagesOf(0), ids);
  expect(requests).toMatchObject([{ file_ids: [5, 10_098, 10_099], include_all_children: false }]);
});

test('search reads times without an offset as UTC, and every offset of ISO 8601', () =>
  everyRow(
    [
      ['2026-01-31', '2026-01-31T00:00:00.000Z'],
      ['2026-01', '2026-01-01T00:00:00.000Z'],
      ['2026-01-31T12:00', '2026-01-31T12:00:00.000Z'],
      ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
      ['2026-01-31T12:00+01', '2026-01-31T11:00:00.000Z'],
      ['2026-01-31T12:00-0130', '2026-01-31T13:30:00.000Z'],
      ['2026-01-31T12:00-01:30', '2026-01-31T13:30:00.000Z'],
    ],
    String,
    async ([text, time]) => {
      const filters: Record<string, unknown>[] = [];
      const ids = (given: Record<string, unknown>) => {
        filters.push(given);
        return [1];
      };
      await searchWith({ created_from: text, created_before: text }, () => passagesOf(0), ids);
      expect(filters).toMatchObject([{ createdFrom: new Date(time!), createdBefore: new Date(time!) }]);
    },
  ));

test('search skips files in cold storage, and states that it does', async () => {
  const cold = new HttpError(409, 'These files are in cold storage: 7.');
  const answer = ({ exclude_cold_storage_files: excluded }: { exclude_cold_storage_files?: boolean }) =>
    excluded === true ? passagesOf(1) : Promise.reject(cold);
  const { result } = await searchWith({}, answer);
  expect([result.passages.length, result.more]).toEqual([1, expect.stringMatching(/cold storage .* not searched/)]);
  expect((await searchWith({}, () => passagesOf(1))).result.more).toBeNull();
  const failure = new HttpError(503, 'Qdrant does not answer.');
  await expect(searchWith({}, () => Promise.reject(failure))).rejects.toBe(failure);
});

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

test('search shortens a passage only if it is longer than a whole result, and continues after those that fit', async () => {
  const boxes = [{ page: 1, x1: 0, x2: 1, y1: 0, y2: 1 }];
  const documents = ['a'.repeat(5_000), 'short'].map((content, index) => ({
    ...{ rank: index + 1, file_id: 7, content, content_metadata: { pg_start: 3, pg_end: 4, boxes } },
  }));
  interface Passage {
    readonly text: string;
    readonly is_shortened: boolean;
    readonly boxes: object[];
  }
  const found = async (maxCharacters?: number) => {
    const { result } = await searchWith({ limit: 9 }, () => ({ documents }), undefined, maxCharacters);
    return { ...result, passages: result.passages as Passage[] };
  };
  const whole = await found();
  expect(whole).toMatchObject({ more: null, passages: [{ is_shortened: false, page_from: 3, page_to: 4, boxes }, {}] });
  const cut = await found(3_000);
  expect(cut.passages).toMatchObject([{ is_shortened: true, page_from: 3, boxes: [] }]);
  expect(JSON.stringify(cut.passages[0]).length).toBeLessThanOrEqual(2_000);
  expect(cut.passages[0]!.text.length).toBeGreaterThan(1_500);
  expect(cut.more).toContain('offset 1');
});

test('search returns nothing, and says so, if no file matches its filters', async () => {
  const { result, requests } = await searchWith(
    { sources: ['BOX'] },
    () => passagesOf(1),
    () => [],
  );
  expect([result.passages, requests]).toEqual([[], []]);
  expect(result.more).toContain('No file matches');
  await expect(
    searchWith(
      { sources: ['BOX'] },
      () => passagesOf(1),
      () => Array.from({ length: 10_001 }, (_, id) => id),
    ),
  ).rejects.toMatchObject({ status: 422 });
});

test('cutText returns a beginning whose JSON fits the maximum, and does not divide a character', () =>
  everyRow(
    ['abc', 'a\u{1F600}\u0001', 'line\nline\nline', '\u0001'.repeat(9), 'a'.repeat(500)],
    JSON.stringify,
    (text) => {
      const size = (part: string): number => JSON.stringify(part).length - 2;
      for (let max = -1; max <= size(text); max += 1) {
        const cut = cutText(text, max);
        expect(text.startsWith(cut) && cut.isWellFormed()).toBe(true);
        expect(size(cut)).toBeLessThanOrEqual(Math.max(0, max));
      }
      expect(cutText(text, size(text))).toBe(text);
      expect(cutText('abc', 2)).toBe('ab');
    },
  ));

test('a prompt has the question of its user, which may have up to 8,000 characters', () => {
  const textOf = (question: string) =>
    (promptOf('answer_with_citations', { question }).messages[0]!.content as { text: string }).text;
  expect(textOf('When do otters sleep?')).toMatch(/\nQuestion: When do otters sleep\?$/);
  expect(textOf('q'.repeat(8_000))).toContain('Question: q');
  for (const question of ['', '  ', 'q'.repeat(8_001)]) expect(() => textOf(question)).toThrow(/1 to 8000 characters/);
  expect(() => promptOf('other', { question: 'q' })).toThrow(/no such prompt/);
});

test('each result has delimiters of its own, so that stored content cannot end it', () => {
  const [first, second] = [asContent({ a: 1 }), asContent({ a: 1 })].map((text) => /<([^/>]+)>/.exec(text)![1]!);
  expect(first).not.toBe(second);
  expect(describedTool(search).outputSchema).toMatchObject({ properties: { notice: {}, passages: {} } });
});

test('list_files returns the number of characters of each text, and null while it is unknown', () => {
  const statistics = { file_size: 9, num_characters: 5 };
  expect(fileOf({ id: 7, file_statistics: statistics } as never)).toMatchObject({ file_id: 7, characters: 5 });
  expect(fileOf({ id: 7, file_statistics: null } as never)).toMatchObject({ characters: null });
});
