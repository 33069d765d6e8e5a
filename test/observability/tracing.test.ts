import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { Fault } from '../../contract/failures.js';
import { parseTraceContext, headersOf } from '../../observability/traceContext.js';
import type { Tracing } from '../../observability/spans.js';
import { inSpan, NO_TRACING, openTracing, readOtlpHeaders } from '../../observability/tracing.js';
import { type OtlpReceiver, startOtlpReceiver } from '../emulators/otlpReceiver.js';

const EXECUTION = '01997c6e-93d2-7b0a-a4b4-0a1b2c3d4e5f';
let receiver: OtlpReceiver;
beforeAll(async () => void (receiver = await startOtlpReceiver()));
beforeEach(() => void (receiver.spans.length = 0));
afterAll(() => receiver.close());

const open = (ratio = 1): Promise<Tracing> =>
  openTracing({ endpoint: receiver.endpoint, headers: {}, ratio }, 'tested');
const workflow = { type: 'w', workflowId: 'w:1', executionId: EXECUTION, startedAt: new Date(), failed: false };

describe('disabled tracing', () => {
  test('is NO_TRACING, which propagates no context', async () => {
    const off = await openTracing({ endpoint: null, headers: {}, ratio: 1 }, 'x');
    expect(off).toBe(NO_TRACING);
    expect(await inSpan(off, { name: 'a', kind: 'internal' }, () => Promise.resolve(off.traceContext()))).toBeNull();
  });

  test('does not load OpenTelemetry: only one file imports it, and only when tracing is enabled', async () => {
    const folder = new URL('../../observability/', import.meta.url);
    const importers = readdirSync(folder).filter((name) =>
      readFileSync(new URL(name, folder), 'utf8').includes("from '@opentelemetry/"),
    );
    expect(importers).toEqual(['openTelemetry.ts']);
    // prom-client loads the API package of OpenTelemetry, so count only the SDK and exporters.
    const program = `
      import { createRequire } from 'node:module';
      const { openTracing } = await import('./dist/observability/tracing.js');
      const loaded = () => Object.keys(createRequire(import.meta.url).cache).filter((file) => /opentelemetry.(sdk|exporter)/.test(file)).length;
      const settings = { headers: {}, ratio: 1 };
      await openTracing({ endpoint: null, ...settings }, 'x');
      const off = loaded();
      const tracing = await openTracing({ endpoint: 'http://127.0.0.1:9', ...settings }, 'x');
      console.log(JSON.stringify([off, loaded() > 0]));
      await tracing.close();`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
      cwd: fileURLToPath(new URL('../../', import.meta.url)),
    });
    expect(JSON.parse(stdout)).toEqual([0, true]);
  });
});

describe('enabled tracing', () => {
  test('nests spans across async calls, and exports ids and kinds of errors, but no error messages', async () => {
    const tracing = await open();
    const work = inSpan(
      tracing,
      { name: 'outer', kind: 'server', ids: { organization: 7, request: 'r' } },
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 5));
        tracing.watch?.({ system: 'qdrant', operation: 'upsert', target: 'c' })({ failed: true });
        await inSpan(tracing, { name: 'inner', kind: 'internal' }, () => Promise.reject(new TypeError('a secret')));
      },
    );
    await expect(work).rejects.toThrow('a secret');
    await tracing.close();
    const [call, inner, outer] = ['qdrant upsert c', 'inner', 'outer'].map((name) =>
      receiver.spans.find((span) => span.name === name),
    );
    expect([call?.parentId, inner?.parentId, outer?.parentId]).toEqual([outer?.spanId, outer?.spanId, null]);
    expect(call).toMatchObject({ failed: true, service: 'tested', attributes: { 'db.system.name': 'qdrant' } });
    const ids = { 'allotrope.organization_id': 7, 'allotrope.request_id': 'r' };
    expect(inner).toMatchObject({ failed: true, attributes: { ...ids, 'error.type': 'TypeError' } });
    expect(receiver.bodies.join('')).not.toContain('a secret');
  });

  test('records a call over HTTP by method, host and status, and sends the configured headers', async () => {
    const headers = { authorization: 'Basic of-the-collector' };
    const tracing = await openTracing({ endpoint: receiver.endpoint, headers, ratio: 1 }, 'tested');
    await inSpan(tracing, { name: 'outer', kind: 'consumer' }, async () => {
      tracing.watch?.({ system: 'http', operation: 'GET', target: 'a.example' })({ failed: true, status: 503 });
      tracing.watch?.({ system: 'http', operation: 'POST', target: 'a.example' })({ failed: false, status: 200 });
    });
    await tracing.close();
    const [failed, sent] = ['GET a.example', 'POST a.example'].map((name) =>
      receiver.spans.find((span) => span.name === name),
    );
    const attributes = {
      'http.request.method': 'GET',
      'server.address': 'a.example',
      'http.response.status_code': 503,
    };
    expect(failed).toMatchObject({ failed: true, attributes });
    expect(sent).toMatchObject({ failed: false, attributes: { 'http.response.status_code': 200 } });
    expect(receiver.headers.at(-1)).toMatchObject(headers);
  });

  test('records the kind of a fault as the type of its error, and when a workflow started', async () => {
    const tracing = await open();
    const fault = new Fault('not_found', 'The file a secret does not exist.');
    await expect(inSpan(tracing, { name: 'a', kind: 'internal' }, () => Promise.reject(fault))).rejects.toBe(fault);
    const startedAt = new Date(Date.now() - 60_000);
    tracing.workflowEnded({ ...workflow, startedAt, traceContext: null });
    await tracing.close();
    const [span, whole] = ['a', 'workflow w'].map((name) => receiver.spans.find((one) => one.name === name));
    expect(span?.attributes).toMatchObject({ 'error.type': 'not_found' });
    expect(whole?.startMs).toBeCloseTo(startedAt.getTime(), 0);
  });

  test('adds later ids and attributes to a span, and the ids to the spans inside it', async () => {
    const tracing = await open();
    const span = tracing.begin({ name: 'request', kind: 'server', ids: { request: 'r' } });
    span.note({ organization: 7 }, { 'http.route': '/files' });
    span.rename('GET /files');
    await span.within(() => inSpan(tracing, { name: 'inside', kind: 'internal' }, () => Promise.resolve()));
    span.end();
    await tracing.close();
    const ids = { 'allotrope.organization_id': 7, 'allotrope.request_id': 'r' };
    const [inside, whole] = ['inside', 'GET /files'].map((name) => receiver.spans.find((one) => one.name === name));
    expect(whole).toMatchObject({ failed: false, attributes: { ...ids, 'http.route': '/files' } });
    expect(inside).toMatchObject({ parentId: whole?.spanId, attributes: ids });
  });

  test('exports no span for calls outside of a span', async () => {
    const tracing = await open();
    tracing.watch?.({ system: 'mongodb', operation: 'find', target: 'runs' })({ failed: false });
    await tracing.close();
    expect(receiver.spans).toEqual([]);
  });

  test('nests the activities of a workflow in its span, also if another worker exports that span', async () => {
    const [api, first, second] = await Promise.all([open(), open(), open()]);
    const traceContext = await inSpan(api, { name: 'start', kind: 'producer', ids: { run: 3 } }, () =>
      Promise.resolve(api.traceContext()),
    );
    await inSpan(first, { name: 'activity', kind: 'consumer', parent: first.parentOf(EXECUTION, traceContext) }, () =>
      Promise.resolve(),
    );
    second.workflowEnded({ ...workflow, failed: true, traceContext });
    await Promise.all([api.close(), first.close(), second.close()]);
    const [start, activity, whole] = ['start', 'activity', 'workflow w'].map((name) =>
      receiver.spans.find((span) => span.name === name),
    );
    expect(new Set([start?.traceId, activity?.traceId, whole?.traceId]).size).toBe(1);
    expect([activity?.parentId, whole?.parentId]).toEqual([whole?.spanId, start?.spanId]);
    expect(whole).toMatchObject({
      failed: true,
      attributes: { 'allotrope.run_id': 3, 'allotrope.workflow_id': 'w:1' },
    });
  });

  test('starts a new trace for a workflow without a propagated context', async () => {
    const tracing = await open();
    await inSpan(tracing, { name: 'activity', kind: 'consumer', parent: tracing.parentOf(EXECUTION, null) }, () =>
      Promise.resolve(),
    );
    tracing.workflowEnded({ ...workflow, traceContext: null });
    await tracing.close();
    const [activity, whole] = ['activity', 'workflow w'].map((name) =>
      receiver.spans.find((span) => span.name === name),
    );
    expect(whole).toMatchObject({ traceId: EXECUTION.replaceAll('-', ''), parentId: null });
    expect([activity?.traceId, activity?.parentId]).toEqual([whole?.traceId, whole?.spanId]);
  });

  test('exports nothing of a trace that is not sampled, from any process', async () => {
    const [none, all] = await Promise.all([open(0), open()]);
    const traceContext = await inSpan(none, { name: 'start', kind: 'producer' }, () =>
      Promise.resolve(none.traceContext()),
    );
    expect(traceContext?.traceparent).toMatch(/-00$/);
    await inSpan(all, { name: 'activity', kind: 'consumer', parent: all.parentOf(EXECUTION, traceContext) }, () =>
      Promise.resolve(),
    );
    all.workflowEnded({ ...workflow, traceContext });
    none.workflowEnded({ ...workflow, traceContext: null });
    await Promise.all([none.close(), all.close()]);
    expect(receiver.spans).toEqual([]);
  });

  test('adds the ids of the span to log lines', async () => {
    const tracing = await open();
    expect(tracing.logFields()).toEqual({});
    const fields = await inSpan(tracing, { name: 'a', kind: 'internal' }, () => Promise.resolve(tracing.logFields()));
    expect(fields).toEqual({
      traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
      spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
    await tracing.close();
  });

  test('does not use the trace id of a workflow for a later trace', async () => {
    const tracing = await open();
    tracing.workflowEnded({ ...workflow, traceContext: null });
    const later = await inSpan(tracing, { name: 'a', kind: 'internal' }, () => Promise.resolve(tracing.traceContext()));
    expect(later?.traceparent).not.toContain(EXECUTION.replaceAll('-', ''));
    await tracing.close();
  });

  test('continues while the receiver is unreachable', async () => {
    const tracing = await openTracing({ endpoint: 'http://127.0.0.1:9', headers: {}, ratio: 1 }, 'x');
    await inSpan(tracing, { name: 'a', kind: 'internal' }, () => Promise.resolve());
    await expect(tracing.close()).resolves.toBeUndefined();
  });
});

describe('the propagated context', () => {
  const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
  test('is restored from its headers', () => {
    const ids = { organization: 1, user: 2, file: 3, run: 4, request: 'a, b=c', workflow: 'scrape:3' };
    expect(parseTraceContext(headersOf({ traceparent, ids }))).toEqual({ traceparent, ids });
  });
  test('omits a list of files, which is not an id', () => {
    expect(headersOf({ traceparent, ids: { run: 4, file: [3, 5] } })).toEqual({ traceparent, baggage: 'run=4' });
    expect(headersOf({ traceparent, ids: { file: [3] } })).toEqual({ traceparent });
  });
  test.each([null, {}, { traceparent: 'x' }, { traceparent: 7 }, 'text'])('is null for %j', (headers) => {
    expect(parseTraceContext(headers)).toBeNull();
  });
  test('ignores foreign or malformed baggage', () => {
    expect(parseTraceContext({ traceparent, baggage: 'run=abc,other=1,user=%E0%A4' })).toEqual({
      traceparent,
      ids: {},
    });
    expect(parseTraceContext({ traceparent, baggage: 'run=abc,other=1,user=2' })).toEqual({
      traceparent,
      ids: { user: 2 },
    });
  });
});

describe('OTLP headers', () => {
  test('are parsed as the OpenTelemetry specification defines', () => {
    expect(readOtlpHeaders(' Authorization = Basic%20eHk= , x-a=b,')).toEqual({
      authorization: 'Basic eHk=',
      'x-a': 'b',
    });
  });
  test.each(['secret', 'a=%zz'])('are rejected without quoting the value: %s', (text) => {
    expect(() => readOtlpHeaders(text)).toThrow(/^accepts (?!.*secret).*$/);
  });
});
