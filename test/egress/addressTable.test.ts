import { describe, expect, test } from '@jest/globals';

import { SPECIAL_V4, SPECIAL_V6, type SpecialRange } from '../../egress/addressTable.js';
import { createGuard, type Guard } from '../../egress/guard.js';
import { everyRow } from '../support/everyRow.js';
import { faultOf } from '../support/faultOf.js';

const NAME = 'name.example';

/** A range as numbers, so that the test does not depend on the address library that the guard uses. */
interface Span {
  readonly first: bigint;
  readonly last: bigint;
}

function toNumber(address: string): bigint {
  if (!address.includes(':')) return address.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n);
  const [left = '', right] = address.split('::');
  const groups = (text: string | undefined) => (text ?? '').split(':').filter((group) => group !== '');
  const missing = 8 - groups(left).length - groups(right).length;
  return [...groups(left), ...Array<string>(missing).fill('0'), ...groups(right)].reduce(
    (sum, group) => sum * 65_536n + BigInt(`0x${group}`),
    0n,
  );
}

function toText(number: bigint, bits: 32 | 128): string {
  const [width, base, count] = bits === 32 ? [8n, 10, 4] : [16n, 16, 8];
  const parts = Array.from({ length: count }, (_, index) =>
    ((number >> (BigInt(count - 1 - index) * width)) & ((1n << width) - 1n)).toString(base),
  );
  return parts.join(bits === 32 ? '.' : ':');
}

function span(cidr: string, bits: 32 | 128): Span {
  const [address = '', prefix = ''] = cidr.split('/');
  const size = 1n << BigInt(bits - Number(prefix));
  const first = toNumber(address);
  if (first % size !== 0n) throw new Error(`${cidr} does not start at its first address`);
  return { first, last: first + size - 1n };
}

async function isRefused(guard: Guard, address: string): Promise<boolean> {
  const url = `http://${address.includes(':') ? `[${address}]` : address}/`;
  const byLiteral = await Promise.resolve()
    .then(() => guard.target(url))
    .then(
      () => false,
      () => true,
    );
  const byName = await guard.resolve(NAME, 80).then(
    () => false,
    () => true,
  );
  if (byLiteral !== byName) throw new Error(`${address}: the guard decides differently for the literal and the name`);
  return byLiteral;
}

const answering = (address: string) => () => Promise.resolve([{ address, family: address.includes(':') ? 6 : 4 }]);

const strict = (address: string) => createGuard({ allowedPrivateHosts: [], allowedPorts: [] }, answering(address));
const everythingAllowed = (address: string) =>
  createGuard(
    {
      allowedPrivateHosts: ['0.0.0.0/0', '::/0', NAME, address],
      allowedPorts: [],
    },
    answering(address),
  );

async function expectRanges(bits: 32 | 128, table: readonly SpecialRange[]): Promise<void> {
  const spans = table.map(({ cidr }) => span(cidr, bits));
  const isSpecial = (number: bigint) => spans.some(({ first, last }) => first <= number && number <= last);

  await everyRow(
    table,
    ({ cidr }) => cidr,
    async (range) => {
      const { first, last } = span(range.cidr, bits);
      for (const inside of [first, last, (first + last) / 2n]) {
        const address = toText(inside, bits);
        expect([address, await isRefused(strict(address), address)]).toEqual([address, true]);
        if (range.never)
          expect([address, await isRefused(everythingAllowed(address), address)]).toEqual([address, true]);
      }
      for (const outside of [first - 1n, last + 1n].filter((number) => number >= 0n && number < 1n << BigInt(bits))) {
        const address = toText(outside, bits);
        expect([address, await isRefused(strict(address), address)]).toEqual([address, isSpecial(outside)]);
      }
    },
  );
}

test('rejects every special-purpose range of IPv4, and decides correctly just outside of it', () =>
  expectRanges(32, SPECIAL_V4));

test('rejects every special-purpose range of IPv6, and decides correctly just outside of it', () =>
  expectRanges(128, SPECIAL_V6));

/**
 * The blocks that IANA publishes, copied independently of the table of the product, so that a missing row is found:
 * https://www.iana.org/assignments/iana-ipv4-special-registry,
 * https://www.iana.org/assignments/iana-ipv6-special-registry, https://www.iana.org/assignments/multicast-addresses,
 * and the ranges outside of global unicast according to https://www.rfc-editor.org/rfc/rfc4291#section-2.4.
 */
const PUBLISHED: Readonly<Record<32 | 128, string>> = {
  32: `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.31.196.0/24
    192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4
    240.0.0.0/4 255.255.255.255/32`,
  128: `::/128 ::1/128 ::ffff:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 100:0:0:1::/64 2001::/23 2001::/32 2001:2::/48 2001:3::/32
    2001:4:112::/48 2001:10::/28 2001:20::/28 2001:30::/28 2001:db8::/32 2002::/16 2620:4f:8000::/48 3fff::/20 5f00::/16 fc00::/7
    fe80::/10 fec0::/10 ff00::/8 ::/3 4000::/2 8000::/1`,
};

test.each([32, 128] as const)('rejects every block that IANA publishes for addresses of %d bits', (bits) =>
  everyRow(
    PUBLISHED[bits].split(/\s+/),
    (cidr) => cidr,
    async (cidr) => {
      const { first, last } = span(cidr, bits);
      for (const address of [first, (first + last) / 2n, last].map((number) => toText(number, bits)))
        expect([address, await isRefused(strict(address), address)]).toEqual([address, true]);
    },
  ),
);

// The addresses of the cloud services come from the documentation of each cloud, independently of the table of the
// product. The other addresses are link-local, reach a whole network segment, or reach a link-local address through a
// NAT64 gateway.
test('rejects metadata and credential services of clouds, link-local, multicast and broadcast addresses with every setting', () =>
  everyRow(
    [
      ['AWS, Azure, Google and most others', '169.254.169.254'],
      ['AWS, container tasks', '169.254.170.2'],
      ['AWS, IPv6', 'fd00:ec2::254'],
      ['Google, IPv6', 'fd20:ce::254'],
      ['Azure, platform agent', '168.63.129.16'],
      ['Alibaba', '100.100.100.200'],
      ['Oracle', '192.0.0.192'],
      ['link-local, IPv6, first', 'fe80::1'],
      ['link-local, IPv6, last', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
      ['multicast, first', '224.0.0.1'],
      ['multicast, last', '239.255.255.255'],
      ['multicast, IPv6', 'ff02::1'],
      ['broadcast', '255.255.255.255'],
      ['local NAT64 of a metadata service', '64:ff9b:1::a9fe:a9fe'],
    ],
    ([cloud = '']) => cloud,
    async ([, address = '']) => expect(await isRefused(everythingAllowed(address), address)).toBe(true),
  ));

test('allows public addresses far from any special range', async () => {
  for (const address of [
    '93.184.216.34',
    '1.1.1.1',
    '223.255.255.255',
    '2606:2800:220:1::1',
    '2a00:1450:4001::1',
    '2000::',
    '3ffe::1',
  ]) {
    expect([address, await isRefused(strict(address), address)]).toEqual([address, false]);
  }
});

describe('an IPv4 address embedded in an IPv6 address', () => {
  const hidden: readonly (readonly [string, string, string])[] = [
    ['IPv4-mapped', '::ffff:a9fe:a9fe', '::ffff:0:0/96'],
    ['IPv4-compatible', '::a9fe:a9fe', '::/96'],
    ['IPv4-translated', '::ffff:0:a9fe:a9fe', '::ffff:0:0:0/96'],
    ['NAT64', '64:ff9b::a9fe:a9fe', '64:ff9b::/96'],
    ['6to4', '2002:a9fe:a9fe::1', '2002::/16'],
    ['Teredo server', '2001:0:a9fe:a9fe::1', '2001::/32'],
    ['Teredo client', '2001:0:4136:e378:8000:63bf:5601:5601', '2001::/32'],
  ];

  test('is rejected if it is the metadata address, even if the IPv6 range is allowed', () =>
    everyRow(
      hidden,
      ([name]) => name,
      async ([, address, cidr]) => {
        const guard = createGuard({ allowedPrivateHosts: [cidr], allowedPorts: [] }, answering(address));
        expect(await isRefused(guard, address)).toBe(true);
      },
    ));

  test('is allowed in an allowed NAT64 range if it is public, and rejected if it is private', async () => {
    const guard = (address: string) =>
      createGuard({ allowedPrivateHosts: ['64:ff9b::/96'], allowedPorts: [] }, answering(address));
    expect(await isRefused(guard('64:ff9b::5db8:d822'), '64:ff9b::5db8:d822')).toBe(false);
    expect(await isRefused(guard('64:ff9b::a00:1'), '64:ff9b::a00:1')).toBe(true);
  });
});

test('names the setting in the message, but not the address of a name', async () => {
  const guard = createGuard({ allowedPrivateHosts: [], allowedPorts: [] }, answering('10.11.12.13'));
  const fault = await faultOf(guard.resolve('intranet.example', 80), 'address_refused');
  expect(fault.message).toContain('ALLOWED_PRIVATE_HOSTS');
  expect(fault.message).toContain('intranet.example');
  expect(fault.message).not.toContain('10.11');
  expect(fault.message).not.toContain('private use');
});
