/** Decisions of egress/ that need no connection, with one table per module. */
import { expect, test } from '@jest/globals';

import { Fault } from '../../contract/failures.js';
import { createAllowances } from '../../egress/allowances.js';
import { networkFault } from '../../egress/networkFault.js';
import { statedReason } from '../../egress/statedReason.js';
import type { EgressSettings } from '../../egress/types.js';
import { everyRow } from '../support/everyRow.js';

const SETTINGS = { connectTimeoutMs: 1000, headersTimeoutMs: 2000, bodyTimeoutMs: 3000 } as EgressSettings;
const coded = (code: unknown): Error => Object.assign(new Error('failed'), { code });

/**
 * Codes of undici (https://undici.nodejs.org/#/docs/api/Errors.md), Node (https://nodejs.org/api/errors.html) and
 * OpenSSL.
 */
const FAILURES: readonly (readonly [failure: unknown, kind: string, message: string])[] = [
  [coded('UND_ERR_CONNECT_TIMEOUT'), 'timed_out', 'did not accept a connection within 1 s'],
  [coded('ETIMEDOUT'), 'timed_out', 'did not accept a connection within 1 s'],
  [coded('UND_ERR_HEADERS_TIMEOUT'), 'timed_out', 'did not begin to answer within 2 s'],
  [coded('UND_ERR_BODY_TIMEOUT'), 'timed_out', 'sent no further part of its response within 3 s'],
  [coded('UND_ERR_HEADERS_OVERFLOW'), 'bad_response', 'header lines'],
  [coded('Z_DATA_ERROR'), 'broken_content', 'compressed'],
  [coded('Z_BUF_ERROR'), 'broken_content', 'compressed'],
  [coded('ERR__ERROR_FORMAT_PADDING_1'), 'broken_content', 'compressed'],
  [coded('ERR_BROTLI_INVALID_PARAM'), 'broken_content', 'compressed'],
  [coded('CERT_HAS_EXPIRED'), 'unreachable', 'certificate of site.example'],
  [coded('ERR_TLS_CERT_ALTNAME_INVALID'), 'unreachable', 'certificate of site.example'],
  [coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'unreachable', 'certificate of site.example'],
  [coded('SELF_SIGNED_CERT_IN_CHAIN'), 'unreachable', 'certificate of site.example'],
  [coded('UNABLE_TO_VERIFY_LEAF_SIGNATURE'), 'unreachable', 'certificate of site.example'],
  [coded('UNABLE_TO_GET_ISSUER_CERT_LOCALLY'), 'unreachable', 'certificate of site.example'],
  [coded('ECONNREFUSED'), 'unreachable', 'broke (ECONNREFUSED).'],
  [coded('ECONNRESET'), 'unreachable', 'broke (ECONNRESET).'],
  [coded(7), 'unreachable', 'broke.'],
  [new Error('no code'), 'unreachable', 'broke.'],
  ['text', 'unreachable', 'broke.'],
  [null, 'unreachable', 'broke.'],
  // A name with several addresses, all of which failed.
  [new AggregateError([coded('ETIMEDOUT'), coded('ECONNREFUSED')]), 'timed_out', 'did not accept a connection'],
  [Object.assign(new AggregateError([coded('ETIMEDOUT')]), { code: 'ECONNREFUSED' }), 'unreachable', 'ECONNREFUSED'],
];

test('maps each connection error to a fault with a kind and a message', () =>
  everyRow(
    FAILURES,
    ([failure]) => String((failure as { code?: unknown } | null)?.code ?? failure),
    ([failure, kind, message]) => {
      const fault = networkFault(failure, 'site.example', SETTINGS);
      expect(fault.kind).toBe(kind);
      expect(fault.message).toContain('site.example');
      expect(fault.message.toLowerCase()).toContain(message.toLowerCase());
      expect(fault.cause).toBe(failure);
    },
  ));

test('returns an error that is already a fault unchanged', () => {
  const fault = new Fault('too_large', 'It is too large.');
  expect(networkFault(fault, 'site.example', SETTINGS)).toBe(fault);
});

/** Entries of ALLOWED_PRIVATE_HOSTS, and whether they allow a host and port. */
const ALLOWED: readonly (readonly [hosts: string[], host: string, port: number, isAllowed: boolean])[] = [
  [['site.example'], 'site.example', 80, true],
  [['site.example'], 'site.example', 8080, true],
  [['site.example'], 'site.example.', 80, true],
  [['SITE.example'], 'site.example', 80, true],
  [['site.example'], 'a.site.example', 80, false],
  [['site.example'], 'site.example.org', 80, false],
  [['site.example:80'], 'site.example', 80, true],
  [['site.example:80'], 'site.example', 81, false],
  [['site.example:65535'], 'site.example', 65_535, true],
  [['site.example:80'], 'site.example.', 80, true],
  [['127.1'], '127.0.0.1', 80, true],
  [['::1'], '::1', 80, true],
  [['[::1]:80'], '::1', 80, true],
  [['[::1]:80'], '::1', 81, false],
  [['10.0.0.0/8'], '10.0.0.1', 80, false],
  [[], 'site.example', 80, false],
];
test('allows a host by name, limited to the port if the entry has one', () =>
  everyRow(
    ALLOWED,
    (row) => JSON.stringify(row),
    ([hosts, host, port, isAllowed]) => expect(createAllowances(hosts, []).names(host, port)).toBe(isAllowed),
  ));

const COVERED: readonly (readonly [range: string, address: string, isCovered: boolean])[] = [
  ['10.0.0.0/8', '10.0.0.0', true],
  ['10.0.0.0/8', '10.255.255.255', true],
  ['10.0.0.0/8', '11.0.0.0', false],
  ['10.0.0.0/8', '9.255.255.255', false],
  ['10.0.0.1/32', '10.0.0.1', true],
  ['10.0.0.1/32', '10.0.0.2', false],
  ['192.168.4.0/22', '192.168.7.255', true],
  ['192.168.4.0/22', '192.168.8.0', false],
  ['fd00::/8', 'fd12::1', true],
  ['fd00::/8', 'fe80::1', false],
  ['::1/128', '::1', true],
  ['::1/128', '::2', false],
];
test('allows only the addresses of a range', () =>
  everyRow(
    COVERED,
    (row) => row.join(' '),
    ([range, address, isCovered]) => expect(createAllowances([range], []).covers(address)).toBe(isCovered),
  ));

const PORTS: readonly (readonly [hosts: string[], ports: number[], port: number, isAllowed: boolean])[] = [
  [[], [], 8080, true],
  [[], [80, 443], 443, true],
  [[], [80, 443], 8080, false],
  [['site.example:8080'], [80], 8080, true],
  [['other.example:8080'], [80], 8080, false],
  // A host without a port allows no additional port.
  [['site.example'], [80], 8080, false],
];
test('allows a port that is listed alone or with the host, and every port if none is listed alone', () =>
  everyRow(
    PORTS,
    (row) => JSON.stringify(row),
    ([hosts, ports, port, isAllowed]) =>
      expect(createAllowances(hosts, ports).port('site.example', port)).toBe(isAllowed),
  ));

test('rejects an invalid entry, and names it', () =>
  everyRow(['site.example:65536', 'a b', '10.0.0.0/33', 'user@site.example', 'http://x', '::1/129'], String, (entry) =>
    expect(() => createAllowances([entry], [])).toThrow(`"${entry}"`),
  ));

const reasonsIn = (body: unknown): unknown[] => [
  (body as { message?: unknown }).message,
  (body as { error?: unknown }).error,
];
const REASONS: readonly (readonly [answer: string, reason: string])[] = [
  ['{"message":"Wrong model."}', 'Wrong model'],
  ['{"message":"first","error":"second"}', 'first'],
  ['{"message":{},"error":"second"}', 'second'],
  ['{"message":" ","error":"second"}', 'second'],
  ['{"message":" in\\n two   lines. "}', 'in two lines'],
  ['{"message":"What?"}', 'What?'],
  ['{}', ''],
  ['null', ''],
  ['<html>', ''],
  ['', ''],
  [JSON.stringify({ message: 'x'.repeat(301) }), 'x'.repeat(300)],
];
test('reads the stated reason of an error response, as one line, from the first field of its JSON with a text', () =>
  everyRow(
    REASONS,
    ([answer]) => answer.slice(0, 50),
    ([answer, reason]) => expect(statedReason(answer, reasonsIn)).toBe(reason),
  ));
