import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

import { SPECIAL_V4, SPECIAL_V6, type EmbeddedV4, type SpecialRange } from './addressTable.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export interface Cidr {
  readonly base: Address;
  readonly bits: number;
}

/** A range an address lies in, with the address that was judged: the given one, or the IPv4 address inside it. */
export interface Finding {
  readonly address: string;
  readonly range: SpecialRange;
}

interface ParsedRange extends Cidr {
  readonly range: SpecialRange;
}

/** Reads `address/bits`; null when it is not that. */
export function parseCidr(text: string): Cidr | null {
  const [address = '', bits = ''] = text.split('/');
  if (isIP(address) === 0 || !/^\d{1,3}$/.test(bits)) return null;
  const base = ipaddr.parse(address);
  return Number(bits) <= (base.kind() === 'ipv4' ? 32 : 128) ? { base, bits: Number(bits) } : null;
}

/** Whether a canonical IP address lies in the range; never across the two families. */
export function within(address: string, cidr: Cidr): boolean {
  return matches(ipaddr.parse(address), cidr);
}

/**
 * Every special-purpose range that an IP address touches: its own, the narrowest one first, and those of an IPv4 address it carries
 * (mapped, NAT64, 6to4, Teredo), since that one is called in the end. Empty: global unicast.
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
  // Teredo: the server in clear, the client with every bit flipped.
  return [at(4), at(12, 0xff)];
}
