import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

import { SPECIAL_V4, SPECIAL_V6, type EmbeddedV4, type SpecialRange } from './addressTable.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export interface Cidr {
  readonly base: Address;
  readonly bits: number;
}

/**
 * The range that contains an address, with the address that was checked: the given one, or the IPv4 address embedded in
 * it.
 */
export interface Finding {
  readonly address: string;
  readonly range: SpecialRange;
}

interface ParsedRange extends Cidr {
  readonly range: SpecialRange;
}

/** Parses `address/bits`; returns null for any other text. */
export function parseCidr(text: string): Cidr | null {
  const [address = '', bits = ''] = text.split('/');
  if (isIP(address) === 0 || !/^\d{1,3}$/.test(bits)) return null;
  const base = ipaddr.parse(address);
  return Number(bits) <= (base.kind() === 'ipv4' ? 32 : 128) ? { base, bits: Number(bits) } : null;
}

/** Returns whether a canonical IP address is inside the range. Returns false for an address of the other family. */
export function within(address: string, cidr: Cidr): boolean {
  return matches(ipaddr.parse(address), cidr);
}

/**
 * Returns every special-purpose range of an IP address: its own, the narrowest first, and those of an IPv4 address
 * embedded in it (mapped, NAT64, 6to4, Teredo), because the connection goes there. The list is empty for an address in
 * none of the ranges.
 */
export function specialRanges(address: string): Finding[] {
  const parsed = ipaddr.parse(address);
  const own = TABLE[parsed.kind()].filter((row) => matches(parsed, row));
  const narrowest = own[0];
  if (narrowest === undefined) return [];
  const embedded =
    parsed.kind() === 'ipv6' && narrowest.range.embeds ? embeddedV4(parsed as ipaddr.IPv6, narrowest.range.embeds) : [];
  return [...own.map(({ range }) => ({ address, range })), ...embedded.flatMap(specialRanges)];
}

const TABLE: Readonly<Record<'ipv4' | 'ipv6', readonly ParsedRange[]>> = {
  ipv4: prepare(SPECIAL_V4),
  ipv6: prepare(SPECIAL_V6),
};

function prepare(ranges: readonly SpecialRange[]): ParsedRange[] {
  const parsed = ranges.map((range) => {
    const cidr = parseCidr(range.cidr);
    if (cidr === null) throw new Error(`${range.cidr} in the address table is not a range`);
    return { ...cidr, range };
  });
  return parsed.sort((a, b) => b.bits - a.bits);
}

function matches(address: Address, { base, bits }: Cidr): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}

function embeddedV4(address: ipaddr.IPv6, how: EmbeddedV4): string[] {
  const bytes = address.toByteArray();
  const at = (start: number, flip = 0): string =>
    bytes
      .slice(start, start + 4)
      .map((byte) => byte ^ flip)
      .join('.');
  if (how === 'last 32 bits') return [at(12)];
  if (how === '6to4') return [at(2)];
  // Teredo contains the server's address unchanged, and the client's with every bit inverted.
  return [at(4), at(12, 0xff)];
}
