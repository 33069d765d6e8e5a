/**
 * Tests of what the worker passes to the connectors, and of the spans of its activities. The connectors and the tracing
 * are fakes.
 */
import { defaultPayloadConverter } from '@temporalio/common';
import { expect, test } from '@jest/globals';

import type { ContentRef } from '../../activities/deps.js';
import type { FetchedPage, PageRequest } from '../../connectors/types.js';
import { TRACE_HEADER } from '../../contract/runs/workflowIds.js';
import type { SpanSettings, Tracing } from '../../observability/spans.js';
import { headersOf } from '../../observability/traceContext.js';
import { createSources } from '../../worker/sources.js';
import { traceActivities, traceSinks } from '../../worker/traces.js';
import { everyRow } from '../support/everyRow.js';

const { signal } = new AbortController();
const URL_OF_PAGE = 'https://site.example/a';
const OPTIONS = {
  ...{ htmlTagsToSkip: ['nav'], cssClassesToSkip: ['menu'], cssSelectorsToSkip: ['#foot'] },
  ...{ downloadCssAndMedia: true, usePremiumProxies: false },
};
const KNOWN = { etag: '"1"', lastModified: null };
const PAGE: FetchedPage = {
  ...{ bytes: Buffer.from('text'), contentType: 'text/html', finalUrl: URL_OF_PAGE },
  ...{ etag: '"2"', lastModified: null, fetchedWith: 'http' },
};

function createFakes(page: FetchedPage | null = PAGE) {
  const calls: unknown[][] = [];
  const record =
    (name: string, answer?: unknown) =>
    (...args: unknown[]) => {
      calls.push([name, ...args]);
      return answer;
    };
  const web = {
    discover: record('discover'),
    mayFetch: record('mayFetch', Promise.resolve(true)),
    download: record('download', Promise.resolve('taken')),
    fetchPage: record('fetchPage', Promise.resolve(page)),
  };
  const feed = { readFeed: record('readFeed', Promise.resolve({ feed: null, movedTo: null })) };
  return { calls, sources: createSources(web as never, feed as never) };
}
const refOf = (fields: Partial<ContentRef> = {}): ContentRef => ({
  ...{ source: 'WEB_SCRAPE', externalFileId: URL_OF_PAGE, externalUrl: null, sourceOptions: OPTIONS, known: KNOWN },
  credentials: () => Promise.resolve(null),
  ...fields,
});

test('requests for sitemaps, robots.txt, downloads and feeds are passed on with all their options', async () => {
  const { calls, sources } = createFakes();
  const onProblem = (): void => undefined;
  const take = async (): Promise<string> => 'taken';
  sources.discover('https://site.example/sitemap.xml', signal, onProblem, true);
  await sources.mayFetch(URL_OF_PAGE, signal);
  expect(await sources.download(URL_OF_PAGE, signal, take)).toBe('taken');
  const request = { url: URL_OF_PAGE, credentials: 'login', known: KNOWN, signal };
  await sources.readFeed(request);
  expect(calls).toEqual([
    ['discover', 'https://site.example/sitemap.xml', signal, onProblem, true],
    ['mayFetch', URL_OF_PAGE, signal],
    ['download', URL_OF_PAGE, signal, take],
    ['readFeed', request],
  ]);
});

test('a page is requested with its own options and the validators of its stored copy', async () => {
  for (const premium of [true, false]) {
    const { calls, sources } = createFakes(null);
    const sourceOptions = { ...OPTIONS, usePremiumProxies: premium, downloadCssAndMedia: !premium };
    expect(await sources.open(refOf({ sourceOptions }), signal)).toBeNull();
    const expected: PageRequest = {
      ...{ url: URL_OF_PAGE, usePremiumProxies: premium, downloadCssAndMedia: !premium, known: KNOWN, signal },
    };
    expect(calls).toEqual([['fetchPage', expected]]);
  }
});

const FORMATS: readonly (readonly [contentType: string | null, format: string, mimeType: string])[] = [
  ['text/html', 'HTML', 'text/html'],
  ['Text/Markdown; charset=utf-8', 'MD', 'text/markdown'],
  ['text/plain ; charset=utf-8', 'TXT', 'text/plain'],
  ['application/xhtml+xml', 'HTML', 'application/xhtml+xml'],
  [null, 'HTML', 'text/html'],
];
test('the format of a page is that of its media type, whatever the case and parameters', () =>
  everyRow(
    FORMATS,
    ([contentType]) => String(contentType),
    async ([contentType, format, mimeType]) => {
      const { sources } = createFakes({ ...PAGE, contentType });
      expect(await sources.open(refOf(), signal)).toMatchObject({ contentType, format, mimeType });
    },
  ));

test('a page has the validators of its response, and metadata about its fetch', async () => {
  const { sources } = createFakes();
  expect(await sources.open(refOf(), signal)).toMatchObject({
    ...{ url: URL_OF_PAGE, validators: { etag: '"2"', lastModified: null }, fileMetadata: { fetched_with: 'http' } },
    html: { tags: ['nav'], classes: ['menu'], selectors: ['#foot'] },
  });
  const moved = { ...PAGE, finalUrl: 'https://site.example/b', lastModified: 'Mon', fetchedWith: 'browser' } as const;
  const opened = await createFakes(moved).sources.open(refOf(), signal);
  const fields = { fetched_with: 'browser', final_url: moved.finalUrl, last_modified: 'Mon' };
  expect([opened?.url, opened?.fileMetadata, opened?.validators.lastModified]).toEqual([moved.finalUrl, fields, 'Mon']);
});

/** Returns a fake Tracing that records spans. */
function recordSpans() {
  const begun: SpanSettings[] = [];
  const ends: unknown[] = [];
  const executions: unknown[] = [];
  const tracing = {
    begin(settings: SpanSettings) {
      begun.push(settings);
      return { within: <T>(work: () => T) => work(), end: (error?: unknown) => void ends.push(error) };
    },
    parentOf: (executionId: string, context: { traceparent: string } | null) =>
      `${executionId} of ${context?.traceparent ?? 'none'}`,
    workflowEnded: (span: unknown) => void executions.push(span),
  } as unknown as Tracing;
  return { tracing, begun, ends, executions };
}
const TRACEPARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
const header = defaultPayloadConverter.toPayload(headersOf({ traceparent: TRACEPARENT, ids: { organization: 4 } }));

const INPUTS: readonly (readonly [input: unknown, ids: object])[] = [
  [
    { runId: 7, fileId: 3 },
    { run: 7, file: 3 },
  ],
  [
    { runId: 7, fileIds: [3, 4] },
    { run: 7, file: [3, 4] },
  ],
  [{ webhookId: 3 }, {}],
  [undefined, {}],
];
test("each attempt of an activity is a span of its workflow, with the caller's ids and those of its input", () =>
  everyRow(
    INPUTS,
    ([input]) => JSON.stringify(input),
    async ([input, ids]) => {
      const { tracing, begun, ends } = recordSpans();
      const info = { activityType: 'ingestBatch', attempt: 2, isLocal: false };
      const execution = { workflowId: 'w', runId: 'execution' };
      const { inbound } = traceActivities(tracing)({ info: { ...info, workflowExecution: execution } } as never);
      const call = { args: [input], headers: { [TRACE_HEADER]: header } };
      expect(await inbound?.execute?.(call, () => Promise.resolve('done'))).toBe('done');
      const failure = new Error('failed');
      await expect(inbound?.execute?.(call, () => Promise.reject(failure))).rejects.toBe(failure);
      expect(ends).toEqual([undefined, failure]);
      expect(begun[0]).toEqual({
        ...{ name: 'activity ingestBatch', kind: 'consumer', parent: `execution of ${TRACEPARENT}` },
        ids: { organization: 4, workflow: 'w', ...ids },
        attributes: { 'temporal.attempt': 2, 'temporal.local': false },
      });
    },
  ));

test('the end of a workflow is recorded with its start, its outcome and the trace of its caller', () => {
  const { tracing, executions } = recordSpans();
  const startedAt = new Date(5);
  const info = { workflowType: 'scrape', workflowId: 'w', runId: 'execution', runStartTime: startedAt };
  void traceSinks(tracing).traces.ended.fn(info as never, true, header);
  expect(executions).toEqual([
    {
      ...{ type: 'scrape', workflowId: 'w', executionId: 'execution', startedAt, failed: true },
      traceContext: { traceparent: TRACEPARENT, ids: { organization: 4 } },
    },
  ]);
});
