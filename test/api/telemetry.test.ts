/** Tests of the metrics and traces of requests, and of the end of connections that were answered early. */
import { EventEmitter } from 'node:events';
import { afterEach, expect, jest, test } from '@jest/globals';

import { closeEarlyAnswered } from '../../api/http/body/receiveFile.js';
import { countRequests, setRoute } from '../../api/http/telemetry/metrics.js';
import { traceRequests } from '../../api/http/telemetry/traces.js';

afterEach(() => void jest.useRealTimers());

/** Returns a response that is closed by emitting `close`. */
const responseOf = (statusCode: number, isComplete = true) =>
  Object.assign(new EventEmitter(), {
    statusCode,
    writableFinished: isComplete,
    locals: {} as Record<string, unknown>,
  });

/** Counts one request. @returns its figures, and the seconds that this took */
function count(response: ReturnType<typeof responseOf>, route: string | null) {
  const answered: Record<string, unknown>[] = [];
  const startedAt = performance.now();
  const handler = countRequests({ answered: (figures: object) => void answered.push({ ...figures }) } as never);
  handler({ method: 'POST' } as never, response as never, () => {
    if (route !== null) setRoute(response as never, route);
    expect(answered).toEqual([]);
    response.emit('close');
  });
  return { answered, seconds: (performance.now() - startedAt) / 1000 };
}

test('a request is counted once it is closed, by its path template, with its duration in seconds', () => {
  const { answered, seconds } = count(responseOf(201), '/files/{id}');
  expect(answered).toEqual([{ method: 'POST', route: '/files/{id}', status: 201, seconds: expect.any(Number) }]);
  expect(answered[0]!['seconds']).toBeGreaterThan(0);
  expect(answered[0]!['seconds']).toBeLessThanOrEqual(seconds);
});

test('a request without an operation is counted as other, and one without a complete answer has no status', () => {
  expect(count(responseOf(404), null).answered).toMatchObject([{ route: 'other', status: 404 }]);
  expect(count(responseOf(200, false), '/events/stream').answered).toMatchObject([{ status: null }]);
});

/** Traces one request of user 2. @returns the calls of its span in order */
function trace(response: ReturnType<typeof responseOf>) {
  const calls: unknown[] = [];
  const span = {
    within: (work: () => unknown) => (calls.push('within'), work()),
    note: (...args: unknown[]) => calls.push(['note', ...args]),
    rename: (name: string) => calls.push(['rename', name]),
    end: (...args: unknown[]) => calls.push(['end', ...args]),
  };
  const begin = (settings: object) => (calls.push(['begin', settings]), span);
  response.locals['requestId'] = 'r1';
  traceRequests({ begin } as never)({ method: 'GET' } as never, response as never, () => {
    setRoute(response as never, '/files/{id}');
    response.locals['identity'] = { caller: { organizationId: 1, userId: 2 }, confirmed: null };
  });
  response.emit('close');
  return calls;
}

test('the span of a request contains its work, and has the template, the status and the ids of its caller', () => {
  const status = { 'http.response.status_code': 200 };
  expect(trace(responseOf(200))).toEqual([
    ['begin', { name: 'GET', kind: 'server', ids: { request: 'r1' }, attributes: { 'http.request.method': 'GET' } }],
    'within',
    ['rename', 'GET /files/{id}'],
    ['note', { organization: 1, user: 2 }, { 'http.route': '/files/{id}', ...status }],
    ['end'],
  ]);
});

test('the span of a request fails from status 500 on, and has no status without a complete answer', () => {
  expect(trace(responseOf(499)).at(-1)).toEqual(['end']);
  expect(trace(responseOf(500)).at(-1)).toEqual(['end', { kind: '500' }]);
  expect(trace(responseOf(200, false))).toContainEqual([
    'note',
    { organization: 1, user: 2 },
    { 'http.route': '/files/{id}' },
  ]);
});

test('the connection of an upload that was answered early is closed after 5 s, unless the upload is complete then', () => {
  jest.useFakeTimers();
  const closedAfter = (isComplete: readonly [atAnswer: boolean, later: boolean]) => {
    let closed = 0;
    const request = { complete: isComplete[0], socket: { destroy: () => (closed += 1) } };
    const response = responseOf(413);
    closeEarlyAnswered(request as never, response as never, () => undefined);
    response.emit('finish');
    request.complete = isComplete[1];
    jest.advanceTimersByTime(4_999);
    expect(closed).toBe(0);
    jest.advanceTimersByTime(1);
    return closed;
  };
  expect([closedAfter([false, false]), closedAfter([false, true]), closedAfter([true, true])]).toEqual([1, 0, 0]);
});
