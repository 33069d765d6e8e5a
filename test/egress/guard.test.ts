import { afterEach, describe, expect, test } from '@jest/globals';

import { createEgress } from '../../egress/createEgress.js';
import { createGuard, type Lookup } from '../../egress/guard.js';
import type { Egress, EgressSettings } from '../../egress/types.js';
import { everyRow } from '../support/everyRow.js';
import { closeAll, egressSettings, serve } from './loopback.js';
import { faultOf } from '../support/faultOf.js';

const closeables: Egress[] = [];
function egress(settings: Partial<EgressSettings>, lookup?: Lookup): Egress {
  const created = createEgress(egressSettings(settings), lookup ? { lookup } : {});
  closeables.push(created);
  return created;
}
afterEach(async () => {
  await Promise.all(closeables.splice(0).map((created) => created.close()));
  await closeAll();
});

const limits = { maxBytes: 1000, totalTimeoutMs: 20_000 };
const v4 = (...addresses: string[]) => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

/** Spellings of 127.0.0.1, or of another local address. */
const LOOPBACK_SPELLINGS = [
  '127.0.0.1',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '127.1',
  '127.0.1',
  '127.0.0.1.',
  '0x7f000001',
  '0x7f.0x0.0x0.0x1',
  '017700000001',
  '0',
  '0.0.0.0',
  '127.255.255.254',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
  '①②⑦.⓪.⓪.①',
  '１２７.0.0.1',
  '127。0。0。1',
  '%31%32%37.0.0.1',
];

test('rejects every spelling of a local address in request() and check()', () =>
  everyRow(LOOPBACK_SPELLINGS, String, async (host) => {
    const guarded = egress({}, () => Promise.reject(new Error('a literal needs no lookup')));
    await faultOf(guarded.request({ url: `http://${host}/`, ...limits }), 'address_refused');
    await faultOf(guarded.check(`http://${host}:8080/x`), 'address_refused');
  }));

test('mayCall() decides about a URL by its port and its IP literal, without a lookup', () =>
  everyRow(
    [
      ...LOOPBACK_SPELLINGS.map((host) => [`http://${host}/`, false] as const),
      ['http://169.254.169.254/', false],
      ['http://93.184.216.34/', true],
      ['https://[2606:2800:220:1::1]/', true],
      // mayCall() accepts every name at an allowed port: a request checks the addresses when it resolves the name.
      ['http://localhost/', true],
      ['https://site.example/', true],
      ['http://site.example:8443/', true],
      ['http://site.example:81/', false],
      ['http://site.example:0/', false],
    ] as const,
    ([url]) => url,
    ([url, mayBeCalled]) => {
      const guarded = egress({ allowedPorts: [80, 443, 8443] }, () => Promise.reject(new Error('no lookup')));
      expect(guarded.mayCall(new URL(url))).toBe(mayBeCalled);
    },
  ));

test('rejects local names after they are resolved', () =>
  everyRow(['localhost', 'LOCALHOST.', 'any.localhost'], String, async (host) => {
    const guarded = egress({}, () => Promise.resolve(v4('127.0.0.1', '::1')));
    await faultOf(guarded.request({ url: `http://${host}/`, ...limits }), 'address_refused');
  }));

test('rejects localhost through the system resolver', async () => {
  const server = await serve((_, response) => response.end('secret'));
  await faultOf(egress({}).request({ url: `http://localhost:${String(server.port)}/`, ...limits }), 'address_refused');
  await faultOf(egress({}).check(`http://localhost:${String(server.port)}/`), 'address_refused');
  expect(server.requests).toEqual([]);
});

const NO_ADDRESSES = [
  'ftp://example.com/',
  'file:///etc/passwd',
  'gopher://example.com/',
  'data:text/plain,x',
  'javascript:1',
  'not a url',
  '',
  'http://',
  'http://user:pw@example.com/',
  'http://user@example.com/',
  'http://example.com:0/',
];

test('rejects an invalid or unsupported URL with advice and without its password', () =>
  everyRow(NO_ADDRESSES, JSON.stringify, async (url) => {
    const fault = await faultOf(egress({}).request({ url, ...limits }), 'address_refused');
    expect(fault.message).toMatch(/(Give|Remove|name)/);
    expect(fault.message).not.toContain('pw');
  }));

describe('names', () => {
  const MIXED: readonly (readonly [string, readonly string[]])[] = [
    ['a public and a private address', ['93.184.216.34', '10.0.0.1']],
    ['a private and a public address', ['10.0.0.1', '93.184.216.34']],
    ['a public A and a private AAAA record', ['93.184.216.34', 'fd00::1']],
    ['a public and a mapped metadata address', ['93.184.216.34', '::ffff:169.254.169.254']],
    ['a link-local address with a zone', ['fe80::1%eth0']],
    ['an invalid IP address', ['example.org']],
  ];
  test('are rejected if any of their addresses is not public', () =>
    everyRow(
      MIXED,
      ([name]) => name,
      async ([, addresses]) => {
        const guarded = egress({}, () => Promise.resolve(v4(...addresses)));
        await faultOf(guarded.check('https://mixed.example/'), 'address_refused');
        await faultOf(guarded.request({ url: 'http://mixed.example/', ...limits }), 'address_refused');
      },
    ));

  test('are resolved again for the connection after check(), so that rebinding is rejected', async () => {
    const server = await serve((_, response) => response.end('secret'));
    let calls = 0;
    const guarded = egress({}, () => Promise.resolve(v4((calls += 1) === 1 ? '93.184.216.34' : '127.0.0.1')));
    const url = `http://rebind.example:${String(server.port)}/`;
    await guarded.check(url);
    await faultOf(guarded.request({ url, ...limits }), 'address_refused');
    expect(calls).toBe(2);
    expect(server.requests).toEqual([]);
  });

  test('that rebind to a private address never reach the server in a thousand requests', async () => {
    const server = await serve((_, response) => response.end('secret'));
    let calls = 0;
    const guarded = egress({}, () => Promise.resolve(v4((calls += 1) % 2 === 1 ? '93.184.216.34' : '127.0.0.1')));
    const url = `http://rebind.example:${String(server.port)}/`;
    for (let attempt = 0; attempt < 1_000; attempt += 1) {
      await guarded.check(url);
      await faultOf(guarded.request({ url, ...limits }), 'address_refused');
    }
    expect([calls, server.requests.length, server.sockets.size]).toEqual([2_000, 0, 0]);
  });

  test('are resolved once for the check and the connection of a request', async () => {
    const server = await serve((_, response) => response.end('allowed'));
    let calls = 0;
    const lookup: Lookup = () => Promise.resolve(v4((calls += 1) === 1 ? '127.0.0.1' : '169.254.169.254'));
    const guarded = egress({ allowedPrivateHosts: ['one.example'] }, lookup);
    const answer = await guarded.request({ url: `http://one.example:${String(server.port)}/`, ...limits });
    expect(Buffer.from(await answer.bytes()).toString()).toBe('allowed');
    expect(calls).toBe(1);
  });

  test('that do not resolve fail with dns_failed', async () => {
    const failing = egress({}, () =>
      Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })),
    );
    const fault = await faultOf(failing.request({ url: 'http://nowhere.example/', ...limits }), 'dns_failed');
    expect(fault.message).toContain('nowhere.example');
    await faultOf(failing.check('http://nowhere.example/'), 'dns_failed');
    await faultOf(egress({}, () => Promise.resolve([])).check('http://empty.example/'), 'dns_failed');
  });

  test('with a hanging resolver fail after the connect timeout or an abort', async () => {
    const hanging = egress({ connectTimeoutMs: 300 }, () => new Promise(() => undefined));
    await faultOf(hanging.check('http://slow.example/'), 'dns_failed');
    await faultOf(hanging.request({ url: 'http://slow.example/', ...limits }), 'timed_out');
    const stop = new AbortController();
    const waiting = egress({ connectTimeoutMs: 60_000 }, () => new Promise(() => undefined)).check(
      'http://slow.example/',
      stop.signal,
    );
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
  });
});

describe('ALLOWED_PRIVATE_HOSTS', () => {
  const reach = async (
    allowed: string[],
    urlOf: (port: number) => string,
    addresses = ['127.0.0.1'],
  ): Promise<boolean> => {
    const server = await serve((_, response) => response.end('ok'));
    const entries = allowed.map((entry) => entry.replace('PORT', String(server.port)));
    const guarded = egress({ allowedPrivateHosts: entries }, () => Promise.resolve(v4(...addresses)));
    return guarded.request({ url: urlOf(server.port), ...limits }).then(
      async (answer) => {
        await answer.discard();
        return true;
      },
      () => false,
    );
  };
  const literal = (port: number) => `http://127.0.0.1:${String(port)}/`;
  const name = (port: number) => `http://Inside.example.:${String(port)}/`;

  const ENTRIES: readonly (readonly [string, string[], (port: number) => string, boolean])[] = [
    ['host and port', ['127.0.0.1:PORT'], literal, true],
    ['host and another port', ['127.0.0.1:1'], literal, false],
    ['host without a port', ['127.0.0.1'], literal, true],
    ['another spelling of the host', ['0x7f.1'], literal, true],
    ['another spelling in the URL', ['127.0.0.1:PORT'], (port) => `http://2130706433:${String(port)}/`, true],
    ['CIDR', ['127.0.0.0/8'], literal, true],
    ['another CIDR', ['10.0.0.0/8'], literal, false],
    ['a name in another case, without the trailing dot', ['inside.EXAMPLE'], name, true],
    ['a name with a port', ['inside.example:PORT'], name, true],
    ['another name', ['other.example'], name, false],
    ['the address of a name', ['127.0.0.1'], name, false],
    ['the range of a name’s address', ['127.0.0.1/32'], name, true],
    ['a suffix of a name', ['example'], name, false],
  ];
  test('allows exactly the hosts and ports of its entries', () =>
    everyRow(
      ENTRIES,
      ([title]) => title,
      async ([, allowed, url, expected]) => expect(await reach(allowed, url)).toBe(expected),
    ));

  const V6_ENTRIES: readonly (readonly [entry: string, url: string, isAllowed: boolean])[] = [
    ['::1', 'http://[::1]:8080/', true],
    ['[::1]', 'http://[::1]:8080/', true],
    ['[::1]:8080', 'http://[::1]:8080/', true],
    ['[0:0::1]:8080', 'http://[::1]:8080/', true],
    ['[::1]:8080', 'http://[::1]:8081/', false],
    ['[::1]:8080', 'http://[::1:8080]/', false],
    ['[fd00::1]:8080', 'http://[fd00::1:8080]/', false],
    ['fd00::1', 'http://[fd00::2]/', false],
  ];
  test('allows exactly the IPv6 addresses of its entries', () =>
    everyRow(
      V6_ENTRIES,
      ([entry, url]) => `${entry} ${url}`,
      ([entry, url, isAllowed]) =>
        expect(egress({ allowedPrivateHosts: [entry], allowedPorts: [] }).mayCall(new URL(url))).toBe(isAllowed),
    ));

  test('allows the port that an entry lists with an IPv6 address, although ALLOWED_PORTS lacks it', () => {
    const guarded = egress({ allowedPrivateHosts: ['[::1]:8080'], allowedPorts: [443] });
    expect([8080, 8081].map((port) => guarded.mayCall(new URL(`http://[::1]:${String(port)}/`)))).toEqual([
      true,
      false,
    ]);
  });

  test('does not allow a name that resolves to the metadata service', async () => {
    for (const address of ['169.254.169.254', 'fd00:ec2::254', 'fe80::1', '::ffff:169.254.169.254']) {
      const guarded = egress({ allowedPrivateHosts: ['inside.example', '0.0.0.0/0', '::/0'] }, () =>
        Promise.resolve(v4('10.0.0.1', address)),
      );
      await faultOf(guarded.check('http://inside.example/'), 'address_refused');
    }
  });

  test('is rejected with an invalid entry', () =>
    everyRow(['10.0.0.0/33', '10.0.0/8', 'a/b', 'http://x', 'x:99999', 'user@x', 'a b', ''], JSON.stringify, (entry) =>
      expect(() => createEgress(egressSettings({ allowedPrivateHosts: [entry] }))).toThrow(/ALLOWED_PRIVATE_HOSTS/),
    ));

  test('accepts addresses, ranges and names, with and without ports', () =>
    everyRow(['[::1]:8080', '::1', 'fd00::/8', 'localhost', 'db.internal:27017'], String, (entry) =>
      expect(() => egress({ allowedPrivateHosts: [entry] })).not.toThrow(),
    ));
});

test('ALLOWED_PORTS rejects all other ports, except those allowed with a host', async () => {
  const server = await serve((_, response) => response.end('ok'));
  const withoutPort = egress({ allowedPorts: [443], allowedPrivateHosts: ['127.0.0.1'] });
  const fault = await faultOf(withoutPort.request({ url: server.origin, ...limits }), 'address_refused');
  expect(fault.message).toContain('ALLOWED_PORTS');
  const withPort = egress({ allowedPorts: [443], allowedPrivateHosts: [server.host] });
  await (await withPort.request({ url: server.origin, ...limits })).discard();
});

test('quotes a rejected address without its query, fragment and credentials', () =>
  everyRow(
    ['ftp://ann:secret@host/path?secret', 'ftp://host/path#secret', '//host/path?secret'],
    String,
    async (url) => {
      const { message } = await faultOf(egress({}).check(url), 'address_refused');
      expect(message).toContain('/path"');
      expect(message).not.toContain('secret');
    },
  ));

test('resolve() checks an IP literal and its port, without a lookup', async () => {
  const guard = createGuard({ allowedPrivateHosts: [], allowedPorts: [443] }, () =>
    Promise.reject(new Error('a literal needs no lookup')),
  );
  expect(await guard.resolve('93.184.216.34', 443)).toEqual([{ address: '93.184.216.34', family: 4 }]);
  await faultOf(guard.resolve('93.184.216.34', 80), 'address_refused');
  await faultOf(guard.resolve('10.0.0.1', 443), 'address_refused');
});
