/** The Fault for each HTTP status, of a page and of a source, and the parsing of Retry-After. */
import { expect, test } from '@jest/globals';

import { conditions, validatorsOf } from '../../connectors/conditional.js';
import { classOfStatus, ERROR_CLASSES } from '../../connectors/errorClasses.js';
import { parseRetryAfter, shownUrl, statusFault } from '../../connectors/statusFault.js';
import { FAULTS } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';

const NOW = Date.UTC(2024, 0, 1);

/** Meanings: https://www.rfc-editor.org/rfc/rfc9110#section-15, 429: rfc6585, 451: rfc7725. */
const STATUSES: readonly (readonly [
  status: number,
  page: string | null,
  source: string,
  retryAfter?: string,
  waitMs?: number,
])[] = [
  [200, null, 'bad_response'],
  [204, null, 'bad_response'],
  [299, null, 'bad_response'],
  [199, 'bad_response', 'bad_response'],
  [300, 'bad_response', 'bad_response'],
  [304, 'bad_response', 'bad_response'],
  [400, 'bad_response', 'bad_response'],
  [401, 'access_denied', 'access_revoked'],
  [403, 'access_denied', 'access_denied'],
  [403, 'access_denied', 'access_denied', '7'],
  [404, 'not_found', 'not_found'],
  [405, 'bad_response', 'bad_response'],
  [407, 'access_denied', 'bad_response'],
  [408, 'bad_response', 'server_error'],
  [410, 'gone', 'not_found'],
  [429, 'rate_limited', 'rate_limited'],
  [429, 'rate_limited', 'rate_limited', '7', 7000],
  [429, 'rate_limited', 'rate_limited', 'soon'],
  [429, 'rate_limited', 'rate_limited', '0', 0],
  [451, 'access_denied', 'access_denied'],
  [499, 'bad_response', 'bad_response'],
  [500, 'server_error', 'server_error'],
  [500, 'server_error', 'server_error', '7'],
  [502, 'server_error', 'server_error'],
  [503, 'server_error', 'server_error'],
  [503, 'rate_limited', 'server_error', '7', 7000],
  [599, 'server_error', 'server_error'],
];

test('maps each status to its fault, with the delay of a rate limit', () =>
  everyRow(
    STATUSES,
    (row) => row.join(' '),
    ([status, page, source, retryAfter, waitMs]) => {
      const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
      const fault = statusFault('The page', { url: 'http://site.example/a', status, headers }, NOW);
      expect(fault?.kind ?? null).toBe(page);
      if (fault) {
        expect(fault.retryAfterMs).toBe(waitMs ?? null);
        expect(fault.message).toMatch(/^The page http:\/\/site\.example\/a /);
        expect(fault.message).toContain(`(HTTP ${status})`);
        if (waitMs !== undefined) expect(fault.message).toContain(`Try again after ${waitMs / 1000} s.`);
      }
      expect(ERROR_CLASSES[classOfStatus(status)].kind).toBe(source);
    },
  ));

test('accepts custom messages for a status', () => {
  const answer = { url: 'http://site.example/a', status: 404, headers: {} };
  expect(statusFault('The feed', answer, NOW, { 404: 'is not there.' })?.message).toBe(
    'The feed http://site.example/a is not there. (HTTP 404)',
  );
});

test('marks only rate limits and server errors of a source as retryable', () => {
  const retried = Object.entries(ERROR_CLASSES).filter(([, { kind }]) => FAULTS[kind].retryable);
  expect(retried.map(([name]) => name)).toEqual(['rate_limited', 'server']);
});

/** https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3 */
const WAITS: readonly (readonly [header: string | undefined, ms: number | null])[] = [
  ['7', 7000],
  [' 7 ', 7000],
  ['0', 0],
  ['Mon, 01 Jan 2024 00:01:00 GMT', 60_000],
  ['Sun, 31 Dec 2023 00:00:00 GMT', 0],
  ['86401', 86_400_000],
  ['999999999', 86_400_000],
  ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400_000],
  ['-1', null],
  ['1.5', null],
  ['2 weeks', null],
  ['2024-01-01', null],
  ['1234567890', null],
  ['Soon', null],
  ['', null],
  [undefined, null],
];
test('parses Retry-After as seconds or as a date, up to a day', () =>
  everyRow(
    WAITS,
    ([header]) => String(header),
    ([header, ms]) => expect(parseRetryAfter(header, NOW)).toBe(ms),
  ));

test('truncates a long URL', () => {
  expect(shownUrl('x'.repeat(300))).toBe('x'.repeat(300));
  expect(shownUrl('x'.repeat(301))).toBe(`${'x'.repeat(300)}…`);
});

test('sends the ETag or the date of a previous response, or both', () => {
  expect(conditions(null)).toEqual({});
  expect(conditions({ etag: null, lastModified: null })).toEqual({});
  expect(conditions({ etag: '"a"', lastModified: null })).toEqual({ 'if-none-match': '"a"' });
  expect(conditions({ etag: null, lastModified: 'date' })).toEqual({ 'if-modified-since': 'date' });
  expect(conditions(validatorsOf({ etag: '"a"', 'last-modified': 'date' }))).toEqual({
    'if-none-match': '"a"',
    'if-modified-since': 'date',
  });
  expect(validatorsOf({})).toEqual({ etag: null, lastModified: null });
});
