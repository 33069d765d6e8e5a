import { answer, html, inTurn, trapWithOrigins, raw, redirect, type Trap } from './trap.js';

const temporary = (status: number, headers: Record<string, string> = {}): Trap['page'] =>
  inTurn([answer(status, 'not now', headers)], answer(200, html('The page works now.')));

/** Returns a page that redirects `hops` times before the content. */
const chain = (name: string, hops: number): Pick<Trap, 'page' | 'also'> => ({
  page: redirect(`/hops/${name}/1`),
  also: Object.fromEntries(
    Array.from({ length: hops }, (_, hop) => [
      `/hops/${name}/${hop + 1}`,
      hop + 1 === hops ? html(`The end of ${name}.`) : redirect(`/hops/${name}/${hop + 2}`, 301 + (hop % 2)),
    ]),
  ),
});

/** Valid and faulty redirects. */
export const REDIRECT_TRAPS: readonly Trap[] = [
  {
    name: 'redirect-loop',
    page: redirect('/hops/back'),
    also: { '/hops/back': redirect('/traps/redirect-loop') },
    outcome: { sentence: /redirects in a loop/, requests: 1 },
  },
  { name: 'redirect-to-itself', page: redirect('/traps/redirect-to-itself'), outcome: { sentence: /in a loop/ } },
  { name: 'five-redirects', ...chain('five', 5), outcome: { words: ['The end of five.'] } },
  { name: 'six-redirects', ...chain('six', 6), outcome: { sentence: /after 5 redirects and redirects again/ } },
  { name: 'redirect-without-location', page: { status: 302 }, outcome: { sentence: /could not be fetched.*HTTP 302/ } },
  { name: 'redirect-to-404', page: redirect('/hops/absent'), outcome: { sentence: /does not exist.*HTTP 404/ } },
  { name: 'redirect-to-ftp', page: redirect('ftp://127.0.0.1/x'), outcome: { sentence: /only http and https/ } },
  { name: 'redirect-to-invalid-address', page: redirect('http://'), outcome: { sentence: /is not a web address/ } },
  {
    name: 'redirect-with-password',
    page: redirect('http://me:secret@127.0.0.1/'),
    outcome: { sentence: /contains a user name or password/ },
  },
  {
    name: 'redirect-to-metadata',
    page: redirect('http://169.254.169.254/latest/meta-data/'),
    outcome: { sentence: /169\.254\.169\.254 is never called/, requests: 1 },
  },
  {
    name: 'redirect-to-private',
    page: redirect('http://10.0.0.1/'),
    outcome: { sentence: /10\.0\.0\.1 is not public/ },
  },
  {
    name: 'redirect-to-loopback-in-disguise',
    page: redirect('http://2130706433:1/'),
    outcome: { sentence: /127\.0\.0\.1 is not public/ },
  },
  {
    name: 'redirect-to-mapped-loopback',
    page: redirect('http://[::ffff:127.0.0.1]:1/'),
    outcome: { sentence: /is not public|can't be called/ },
  },
  trapWithOrigins('redirect-to-foreign-host', ({ foreign }) => redirect(`${foreign}/open`), {
    words: ['A page of the other site.'],
  }),
  trapWithOrigins('redirect-to-foreign-robots', ({ foreign }) => redirect(`${foreign}/closed/page`), {
    sentence: /is forbidden by .*robots\.txt/,
  }),
];

/** Statuses and headers. */
export const STATUS_TRAPS: readonly Trap[] = [
  {
    name: 'closed/by-robots',
    page: html('closed'),
    outcome: { sentence: /is forbidden by .*robots\.txt/, requests: 0 },
  },
  { name: 'login', page: { status: 401 }, outcome: { sentence: /asks for a login.*HTTP 401/, requests: 1 } },
  { name: 'refused', page: { status: 403 }, outcome: { sentence: /was refused by its server.*HTTP 403/ } },
  { name: 'absent', page: { status: 404 }, outcome: { sentence: /does not exist.*HTTP 404/, requests: 1 } },
  { name: 'gone', page: { status: 410 }, outcome: { sentence: /was removed permanently.*HTTP 410/, requests: 1 } },
  { name: 'teapot', page: { status: 418 }, outcome: { sentence: /could not be fetched.*HTTP 418/, requests: 1 } },
  { name: 'withheld', page: { status: 451 }, outcome: { sentence: /withheld for legal reasons.*HTTP 451/ } },
  { name: 'not-modified-unasked', page: { status: 304 }, outcome: { sentence: /could not be fetched.*HTTP 304/ } },
  { name: 'no-content', page: { status: 204 }, outcome: { sentence: /no text/ } },
  { name: '500-then-fine', page: temporary(500), outcome: { words: ['The page works now.'], requests: 2 } },
  {
    name: '429-then-fine',
    page: temporary(429, { 'retry-after': '1' }),
    outcome: { words: ['The page works now.'], requests: 2 },
  },
  {
    name: '503-with-a-date-then-fine',
    page: temporary(503, { 'retry-after': new Date(0).toUTCString() }),
    outcome: { words: ['The page works now.'], requests: 2 },
  },
  { name: 'always-500', page: { status: 500 }, outcome: { sentence: /its server failed/, requests: 3 } },
  { name: 'always-503', page: { status: 503 }, outcome: { sentence: /HTTP 503/, requests: 3 } },
  { name: 'always-429', page: { status: 429 }, outcome: { sentence: /requested too often.*HTTP 429/, requests: 3 } },
  {
    name: 'early-hints',
    page: (_request, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload; as=style' });
      response.writeHead(200, { 'content-type': 'text/html' }).end(html('Hints came first.'));
    },
    outcome: { words: ['Hints came first.'] },
  },
  {
    name: 'oversized-header',
    page: raw(`HTTP/1.1 200 OK\r\nx-long: ${'x'.repeat(100_000)}\r\n\r\n`),
    outcome: { sentence: /more header lines than can be read/, requests: 1 },
  },
  { name: 'not-http', page: raw('SSH-2.0-OpenSSH_9.6\r\n'), outcome: { sentence: /connection to .* failed or broke/ } },
  {
    name: 'closed-without-answer',
    page: raw(''),
    outcome: { sentence: /connection to .* failed or broke/, requests: 3 },
  },
  {
    name: 'no-type',
    page: raw(`HTTP/1.0 200 OK\r\n\r\n${html('This page has no type.')}`),
    outcome: { words: ['This page has no type.'] },
  },
  {
    name: 'json',
    page: { type: 'application/json', body: '{}' },
    outcome: { sentence: /application\/json, which can't be read/ },
  },
  { name: 'image', page: { type: 'image/png', body: 'x' }, outcome: { sentence: /image\/png, which can't be read/ } },
  {
    name: 'xhtml',
    page: { type: 'application/xhtml+xml', body: html('Strict and old.') },
    outcome: { words: ['Strict and old.'] },
  },
  {
    name: 'plain-text',
    page: { type: 'text/plain', body: 'Only words,\nin lines.' },
    outcome: { words: ['Only words,\nin lines.'] },
  },
];
