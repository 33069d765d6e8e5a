import { expect, test } from '@jest/globals';

import { redirected, type Step } from '../../egress/redirect.js';
import { everyRow } from '../support/everyRow.js';

const STEP: Step = {
  url: 'https://api.example/items',
  method: 'GET',
  headers: { authorization: 'Bearer secret', cookie: 'session=secret', 'x-api-key': 'secret', accept: 'text/html' },
  body: null,
};

/** An origin is scheme, host and port (https://www.rfc-editor.org/rfc/rfc6454#section-4). */
const OTHER_ORIGINS = [
  ['plain HTTP on the same host', 'http://api.example/items'],
  ['plain HTTP on the port of HTTPS', 'http://api.example:443/items'],
  ['another port', 'https://api.example:8443/items'],
  ['another host', 'https://cdn.example/items'],
  ['a subdomain', 'https://eu.api.example/items'],
] as const;

test('drops all credentials for another origin', () =>
  everyRow(
    OTHER_ORIGINS,
    ([name]) => name,
    ([, location]) => expect(redirected(STEP, 302, location)?.headers).toEqual({ accept: 'text/html' }),
  ));

test('keeps all headers within an origin', () => {
  expect(redirected(STEP, 302, '/elsewhere')).toEqual({ ...STEP, url: 'https://api.example/elsewhere' });
  expect(redirected(STEP, 302, 'https://api.example:443/elsewhere')?.headers).toEqual(STEP.headers);
});

/** Headers that state what a request asks for. Any other header may contain a secret. */
const NOT_SECRET = [
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'if-modified-since',
  'if-none-match',
  'range',
  'user-agent',
];

test('keeps for another origin only the headers that state what a request asks for', () => {
  const headers = Object.fromEntries(NOT_SECRET.map((name) => [name, `value of ${name}`]));
  const sent = { ...headers, 'content-length': '4', 'proxy-authorization': 'Basic secret' };
  expect(redirected({ ...STEP, method: 'PUT', headers: sent, body: 'data' }, 307, 'https://cdn.example/')).toEqual({
    url: 'https://cdn.example/',
    method: 'PUT',
    headers,
    body: 'data',
  });
});
