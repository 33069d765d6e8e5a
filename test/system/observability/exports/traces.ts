import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, Connection } from '@temporalio/client';
import { type AddressInfo, createServer } from 'node:net';

import type { FileRecord } from '../../../../contract/files/records.js';
import { workflowIds } from '../../../../contract/runs/workflowIds.js';
import { drawTrace } from '../../../../scripts/traceTree.js';
import { openModels } from '../../../../store/models/openModels.js';
import type { ReceivedSpan } from '../../../emulators/otlpReceiver.js';
import { type Site, startSite } from '../../../emulators/site.js';
import { testUser, type TestUser } from '../../../support/client.js';
import { withDatabase } from '../../../support/mongo.js';
import { startProcess } from '../../../support/processes.js';
import { loadProduct } from '../../../support/product.js';
import { quietTemporal } from '../../../support/quietTemporal.js';
import { waitFor } from '../../../support/waitFor.js';
import type { thoroughly as Thoroughly } from '../../../support/thorough.js';
import { apiUrl, env, otlp, service } from './processes.js';

const SECRET = 'never-in-a-trace';

let site: Site;
let user: TestUser;
/** The spans of the scrape that the tests examine. */
let trace: ReceivedSpan[];
let parent: FileRecord;

const spansOf = (traceId: string): ReceivedSpan[] => otlp.spans.filter((span) => span.traceId === traceId);
/** Returns the spans of a trace once its workflow has ended and all spans have arrived. */
async function traceOf(workflow: string, isOurs: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan[]> {
  const ended = await waitFor(
    () => otlp.spans.find((span) => span.name === workflow && isOurs(span)),
    (span) => span !== undefined,
  );
  // Each process exports on its own schedule: a span whose parent is missing waits for the other process.
  return waitFor(
    () => spansOf(ended?.traceId ?? ''),
    (spans) => {
      const spanIds = new Set(spans.map(({ spanId }) => spanId));
      return spans.every(({ parentId }) => parentId === null || spanIds.has(parentId));
    },
  );
}
const spansNamed = (name: RegExp | string): ReceivedSpan[] =>
  trace.filter((span) => (typeof name === 'string' ? span.name === name : name.test(span.name)));
const ancestorsOf = (span: ReceivedSpan | undefined): string[] => {
  const above = trace.find(({ spanId }) => spanId === span?.parentId);
  return above ? [above.name, ...ancestorsOf(above)] : [];
};

/** @param thoroughly defines the tests that run only in `npm run test:long` */
export function testTraces(thoroughly: typeof Thoroughly): void {
  describe('traces', () => {
    beforeAll(async () => {
      site = await startSite();
      const page = `/lighthouse.html?signature=${SECRET}`;
      site.pages.set(
        page,
        '<html><head><title>L</title></head><body><main><p>It was lit by keeper Thorvald.</p></main></body></html>',
      );
      const loc = site.url(page).replaceAll('&', '&amp;');
      const map = `/sitemap.xml?key=${SECRET}`;
      site.pages.set(
        map,
        `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${loc}</loc></url></urlset>`,
      );
      user = await testUser(apiUrl, service.apiKey, 'traced');
      const { status, body } = await user.post<FileRecord>('/scrape_sitemap', {
        url: site.url(map),
        embedding_model: 'OPENAI',
      });
      expect(status).toBe(200);
      parent = body;
      trace = await traceOf('workflow scrapeSitemap', () => true);
    }, 120_000);
    afterAll(() => site.close());

    test('connects request, workflow, activities, site, provider, MongoDB and Qdrant in one trace', () => {
      expect(new Set(trace.map(({ service: name }) => name))).toEqual(new Set(['allotrope-api', 'allotrope-worker']));
      const [request] = spansNamed('POST /scrape_sitemap');
      expect(request?.parentId).toBeNull();
      expect(ancestorsOf(spansNamed('workflow scrapeSitemap')[0])).toEqual([
        'start scrapeSitemap',
        'POST /scrape_sitemap',
      ]);
      const above = ['workflow scrapeSitemap', 'start scrapeSitemap', 'POST /scrape_sitemap'];
      const [batch] = spansNamed('activity ingestBatch');
      expect(ancestorsOf(batch)).toEqual(above);
      const inBatch = ['activity ingestBatch', ...above];
      expect(ancestorsOf(spansNamed('GET 127.0.0.1').at(-1))).toEqual(inBatch);
      expect(ancestorsOf(spansNamed('POST 127.0.0.1')[0])).toEqual(inBatch);
      expect(ancestorsOf(spansNamed(/^qdrant upsert /)[0])).toEqual(inBatch);
      expect(spansNamed(/^mongodb update files$/).map(ancestorsOf)).toContainEqual(inBatch);
      expect(spansNamed(/^mongodb insert runs$/).map(ancestorsOf)).toEqual([['POST /scrape_sitemap']]);
      expect(ancestorsOf(spansNamed('activity discoverPages')[0])).toEqual(above);
      // Local activities have one span each, too.
      expect(spansNamed('activity finishRun')).toMatchObject([
        { attributes: { 'temporal.local': true, 'temporal.attempt': 1 } },
      ]);
    });

    const PREPARES_COLLECTION = /^qdrant (collectionExists|createCollection|createPayloadIndex) /;

    test('keeps spans within the times of their parents', () => {
      const byId = new Map(trace.map((span) => [span.spanId, span]));
      for (const span of trace) {
        const above = byId.get(span.parentId ?? '');
        // The span of a workflow may end after that of its start, and the span of a start after that of its request.
        if (!above || /^(workflow|start) /.test(span.name)) continue;
        expect([span.name, span.startMs >= above.startMs - 5]).toEqual([span.name, true]);
        // An activity starts the creation of its Qdrant collection early (Vectors.prepare), and may end before these
        // calls.
        if (above.name.startsWith('activity ') && !PREPARES_COLLECTION.test(span.name))
          expect([span.name, span.endMs <= above.endMs + 50]).toEqual([span.name, true]);
      }
    });

    test('sets the ids of organization, user, request, run and file on spans', async () => {
      const ids = {
        'allotrope.organization_id': 1,
        'allotrope.user_id': parent.organization_user_id,
        'allotrope.request_id': parent.request_id,
        'allotrope.workflow_id': service.names.idOf(workflowIds.scrape(parent.id)),
      };
      expect(spansNamed('workflow scrapeSitemap')[0]?.attributes).toMatchObject({
        ...ids,
        'allotrope.file_id': parent.id,
      });
      const [child] = (
        await user.post<{ results: FileRecord[] }>('/user_files_v2', { filters: { source: 'WEB_SCRAPE' } })
      ).body.results;
      const runId = spansNamed('start scrapeSitemap')[0]?.attributes['allotrope.run_id'];
      expect(spansNamed('activity ingestBatch')[0]?.attributes).toMatchObject({
        ...ids,
        'allotrope.run_id': runId,
        'allotrope.file_id': [child?.id],
      });
      expect(spansNamed('POST /scrape_sitemap')[0]?.attributes).toMatchObject({
        'allotrope.organization_id': 1,
        'allotrope.user_id': parent.organization_user_id,
        'http.request.method': 'POST',
        'http.route': '/scrape_sitemap',
        'http.response.status_code': 200,
      });
      expect(spansNamed('GET 127.0.0.1')[0]?.attributes).toEqual({
        'http.request.method': 'GET',
        'server.address': '127.0.0.1',
        'http.response.status_code': expect.any(Number),
      });
    });

    test('exports no secret, no path or query of an address, and no content', () => {
      const sent = otlp.bodies.join('\n');
      for (const hidden of [
        SECRET,
        service.apiKey,
        user.token,
        'lighthouse',
        'Thorvald',
        'sitemap.xml',
        'test-key',
        site.origin,
      ])
        expect([hidden, sent.includes(hidden)]).toEqual([hidden, false]);
      expect(new Set(otlp.headers.map((headers) => headers['x-tenant']))).toEqual(new Set(['ours']));
      expect(otlp.headers[0]?.authorization).toBe('Bearer of-the-receiver');
    });

    test('drawTrace prints a trace as a tree of its spans with their times', () => {
      const lines = drawTrace(trace);
      expect(lines[0]).toMatch(/^POST \/scrape_sitemap .* ms {2}allotrope-api$/);
      expect(lines.some((line) => /^ +│? *[├└] workflow scrapeSitemap .* allotrope-worker$/.test(line))).toBe(true);
    });

    test('traces a search in its own trace, with its calls as children', async () => {
      await user.search({ query: 'light', k: 1, embedding_model: 'OPENAI' });
      const request = await waitFor(
        () => otlp.spans.find(({ name }) => name === 'POST /embeddings'),
        (span) => span !== undefined,
      );
      const below = await waitFor(
        () => otlp.spans.filter(({ parentId }) => parentId === request?.spanId).map(({ name }) => name),
        (names) => names.some((name) => name.startsWith('qdrant query')),
      );
      expect(below.some((name) => name.startsWith('mongodb find'))).toBe(true);
      expect(below).toContain('POST 127.0.0.1');
      expect(request).toMatchObject({ parentId: null, attributes: { 'http.response.status_code': 200 } });
    });

    test('creates no trace without a request or a workflow', () => {
      const roots = otlp.spans.filter(({ parentId }) => parentId === null);
      expect(roots.filter(({ name }) => !/^(GET|POST|workflow) /.test(name))).toEqual([]);
    });

    thoroughly(
      'continues the trace of the request in a run that a worker starts because the API cannot reach Temporal',
      async () => {
        // Nothing listens on this port.
        const closed = createServer().listen(0, '127.0.0.1');
        await once(closed, 'listening');
        const address = `127.0.0.1:${(closed.address() as AddressInfo).port}`;
        closed.close();
        const isolatedApi = await startProcess('api/server', { ...env, TEMPORAL_ADDRESS: address });
        try {
          const late = await testUser(`http://127.0.0.1:${String(isolatedApi.ready['port'])}`, service.apiKey, 'late');
          const { body } = await late.post<FileRecord>('/upload_text', { contents: 'Late words.' });
          const spans = await traceOf(
            'start drainUploads',
            (span) => span.attributes['allotrope.file_id'] === body.id && !span.failed,
          );
          const starts = spans.filter(({ name }) => name === 'start drainUploads');
          expect(starts.find((span) => !span.failed)?.service).toBe('allotrope-worker');
          const [request] = spans.filter(({ name }) => name === 'POST /upload_text');
          expect(request?.service).toBe('allotrope-api');
          const rows = await withDatabase(service, async (connection) => {
            const { runs } = await openModels(connection);
            return runs.find({ fileId: body.id }).lean();
          });
          expect(rows).toMatchObject([{ traceparent: `00-${request?.traceId}-${request?.spanId}-01` }]);
        } finally {
          await isolatedApi.stop();
        }
      },
    );

    test('does not mark a refused request as a failed span', async () => {
      const unknown = await user.get('/user_files_v2');
      expect(unknown.status).toBe(405);
      const span = await waitFor(
        () => otlp.spans.find(({ name }) => name === 'GET /user_files_v2'),
        (one) => one !== undefined,
      );
      expect(span).toMatchObject({ failed: false, attributes: { 'http.response.status_code': 405 } });
    });

    thoroughly('replays the history of a traced workflow in a worker without tracing', async () => {
      await quietTemporal();
      const connection = await Connection.connect({ address: service.env['TEMPORAL_ADDRESS'] ?? '' });
      const client = new Client({ connection });
      const history = await client.workflow.getHandle(service.names.idOf(workflowIds.scrape(parent.id))).fetchHistory();
      await connection.close();
      expect(JSON.stringify(history)).toContain('_tracer-data');
      const { bundleWorkflowCode, Worker } = (await loadProduct()).sdk;
      const workflowBundle = await bundleWorkflowCode({
        workflowsPath: fileURLToPath(new URL('../../../../workflows/index.ts', import.meta.url)),
      });
      await expect(Worker.runReplayHistory({ workflowBundle }, history)).resolves.toBeUndefined();
    });
  });
}
