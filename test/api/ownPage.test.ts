import { expect, test } from '@jest/globals';
import type { Request, Response } from 'express';

import { requireOwnPage } from '../../api/http/identity/ownPage.js';

interface Sent {
  readonly publicUrl?: string;
  readonly aliases?: readonly string[];
  readonly host?: string;
  readonly origin?: string;
  readonly site?: string;
  readonly localAddress?: string;
}

/** Returns whether a process on port 8000 accepts a form request with these headers. */
function passes({ publicUrl, aliases = [], host, origin, site, localAddress = '::ffff:127.0.0.1' }: Sent): boolean {
  const request = {
    headers: { host, origin, 'sec-fetch-site': site },
    socket: { localAddress, localPort: 8000 },
  } as unknown as Request;
  let passed = false;
  try {
    const check = requireOwnPage({ publicUrl: publicUrl ?? null, publicUrlAliases: aliases });
    void check(request, {} as Response, () => {
      passed = true;
    });
  } catch (error) {
    expect(error).toMatchObject({ status: 403, message: expect.stringContaining('PUBLIC_URL') });
  }
  return passed;
}

const PUBLIC = 'https://allotrope.example';
test.each<readonly [string, Sent, boolean]>([
  ['the public address', { publicUrl: PUBLIC, origin: PUBLIC }, true],
  ['an alias', { publicUrl: PUBLIC, aliases: ['https://other.example/base'], origin: 'https://other.example' }, true],
  ['a client other than a browser', { publicUrl: PUBLIC }, true],
  ['a foreign origin', { publicUrl: PUBLIC, origin: 'https://evil.example' }, false],
  ['a foreign origin that the header Host repeats', { host: 'evil', origin: 'http://evil' }, false],
  ['the foreign origin in Host, with the port', { host: 'evil:8000', origin: 'http://evil:8000' }, false],
  [
    'the foreign origin in Host, with a public address',
    { publicUrl: PUBLIC, host: 'evil', origin: 'http://evil' },
    false,
  ],
  [
    'the foreign origin in Host, marked same-origin by a browser',
    { host: 'evil', origin: 'http://evil', site: 'same-origin' },
    false,
  ],
  ['the public address without TLS', { publicUrl: PUBLIC, origin: 'http://allotrope.example' }, false],
  ['the public address on another port', { publicUrl: PUBLIC, origin: `${PUBLIC}:444` }, false],
  ['loopback, with a public address', { publicUrl: PUBLIC, origin: 'http://localhost:8000' }, false],
  ['a frame without an origin', { publicUrl: PUBLIC, origin: 'null' }, false],
  ['the public address, marked cross-site', { publicUrl: PUBLIC, origin: PUBLIC, site: 'cross-site' }, false],
  ['localhost', { origin: 'http://localhost:8000' }, true],
  ['127.0.0.1', { origin: 'http://127.0.0.1:8000' }, true],
  ['loopback of IPv6', { origin: 'http://[::1]:8000', localAddress: '::1' }, true],
  [
    '127.0.0.1, with localhost configured',
    { publicUrl: 'http://localhost:8000', origin: 'http://127.0.0.1:8000' },
    true,
  ],
  ['another program on localhost', { origin: 'http://localhost:3000' }, false],
  ['the address of the connection', { origin: 'http://192.168.1.5:8000', localAddress: '192.168.1.5' }, true],
  ['another machine of the network', { origin: 'http://192.168.1.6:8000', localAddress: '192.168.1.5' }, false],
])('own page: %s', (_what, sent, expected) => {
  expect(passes(sent)).toBe(expected);
});
