/** A company of Gong with thousands of calls in one workspace. https://help.gong.io/docs/what-the-gong-api-provides */
import { type Refused, sendJson } from '../emulator.js';
import { type LargeAccount, range, startLarge } from './largeAccount.js';
import { DAY_MS, type Limit, retryAfter, SECOND_MS, TIME_HEADER } from './quota.js';

const QUOTA_PAGE = 'https://help.gong.io/apidocs/introduction-2';
const LIMITS: readonly Limit[] = [
  { name: 'requests per second', max: 3, perMs: SECOND_MS, page: QUOTA_PAGE, unitsOf: () => 1 },
  { name: 'requests per day', max: 10_000, perMs: DAY_MS, page: QUOTA_PAGE, unitsOf: () => 1 },
];
const PER_PAGE = 100;
/**
 * Lifetime of a cursor in milliseconds, according to the `exp` field of a cursor that a user published:
 * https://visioneers.gong.io/developers-79/gong-api-pagination-limit-1036
 */
const CURSOR_MS = 3_600_000;
const FIRST = Date.parse('2025-01-01T00:00:00Z');
const STEP_MS = 3_600_000;
const WORKSPACE = '1';
const OFFSET = 1_000_000;

const idOf = (number: number): string => String(OFFSET + number);
const basicOf = (number: number) => {
  const started = new Date(FIRST + number * STEP_MS).toISOString();
  return {
    ...{ id: idOf(number), title: `Call ${number}`, started, scheduled: started, workspaceId: WORKSPACE },
    ...{ url: `https://app.gong.io/call?id=${idOf(number)}`, duration: 61, language: 'eng', direction: 'Conference' },
    ...{ scope: 'External', media: 'Video' },
  };
};

/** @param calls number of calls */
export const startLargeGong = (calls: number): Promise<LargeAccount> =>
  startLarge<Refused>({
    source: 'GONG',
    files: calls,
    limits: LIMITS,
    path: '/v2',
    refuse: (response, { status, headers = {} }) =>
      sendJson(response, status, { requestId: 'r1', errors: [`refused with ${status}`] }, headers),
    refusalOf: (_limit, waitMs) => ({ status: 429, headers: retryAfter(waitMs) }),
    answer(call) {
      const { path, query, response, body, request } = call;
      const place = path.slice(1).join('/');
      const refuse = (status: number): void => sendJson(response, status, { requestId: 'r1', errors: ['refused'] });
      if (place === 'workspaces')
        return sendJson(response, 200, { requestId: 'r1', workspaces: [{ id: WORKSPACE, name: 'Sales' }] });
      if (place === 'library/folders') return refuse(404);
      const send = (
        name: string,
        all: readonly number[],
        cursor: string | null,
        json: (n: number) => unknown,
      ): void => {
        const now = Number(request.headers[TIME_HEADER]);
        const [from = 0, until = Infinity] = (cursor ?? '0').split('-').map(Number);
        if (now > until) return refuse(400);
        if (all.length === 0) return refuse(404);
        const to = from + PER_PAGE;
        const page = all.slice(from, to);
        const records = { totalRecords: all.length, currentPageSize: page.length, currentPageNumber: from / PER_PAGE };
        const next = to < all.length ? { cursor: `${to}-${now + CURSOR_MS}` } : {};
        sendJson(response, 200, { requestId: 'r1', records: { ...records, ...next }, [name]: page.map(json) });
      };
      if (place === 'calls' && call.method === 'GET')
        return send('calls', range(0, calls), query.get('cursor'), basicOf);
      const { filter = {}, cursor = null } = JSON.parse(body.toString()) as {
        filter?: { callIds?: string[] };
        cursor?: string | null;
      };
      const requestedCalls = (filter.callIds ?? []).map((id) => Number(id) - OFFSET).filter((n) => n >= 0 && n < calls);
      if (place === 'calls/extensive')
        return send('calls', requestedCalls, cursor, (n) => ({
          metaData: basicOf(n),
          parties: [{ id: 'p1', name: 'Ada', speakerId: '1' }],
        }));
      if (place !== 'calls/transcript') return refuse(404);
      send('callTranscripts', requestedCalls, cursor, (n) => ({
        callId: idOf(n),
        transcript: [{ speakerId: '1', topic: null, sentences: [{ start: 0, end: 999, text: `On call ${n}.` }] }],
      }));
    },
  });
