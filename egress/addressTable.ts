/**
 * The ranges of addresses to which requests are refused by default, as data: special-purpose, multicast and reserved
 * ranges, and the metadata addresses of clouds. Sources: IANA's special-purpose registries for IPv4 and IPv6, the
 * multicast registries, RFC 4291 (only 2000::/3 is global unicast) and the documentation of the clouds.
 */

/** How an IPv6 address contains the IPv4 address to which a connection finally goes. */
export type EmbeddedV4 = 'last 32 bits' | '6to4' | 'teredo';

export interface SpecialRange {
  readonly cidr: string;
  readonly name: string;
  /** Set for a range that is refused even if ALLOWED_PRIVATE_HOSTS names it. */
  readonly never?: true;
  readonly embeds?: EmbeddedV4;
}

export const SPECIAL_V4: readonly SpecialRange[] = [
  { cidr: '0.0.0.0/8', name: 'this network' },
  { cidr: '0.0.0.0/32', name: 'this host' },
  { cidr: '10.0.0.0/8', name: 'private use' },
  { cidr: '100.64.0.0/10', name: 'shared address space' },
  { cidr: '100.100.100.200/32', name: 'cloud metadata', never: true },
  { cidr: '127.0.0.0/8', name: 'loopback' },
  // Contains 169.254.169.254 and its neighbours, the metadata and credential services of most clouds.
  { cidr: '169.254.0.0/16', name: 'link-local', never: true },
  // A public address, but Azure routes it to the machine's platform agent:
  // https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
  { cidr: '168.63.129.16/32', name: 'cloud metadata', never: true },
  { cidr: '172.16.0.0/12', name: 'private use' },
  { cidr: '192.0.0.0/24', name: 'protocol assignments' },
  { cidr: '192.0.0.0/29', name: 'IPv4 service continuity' },
  { cidr: '192.0.0.8/32', name: 'IPv4 dummy address' },
  { cidr: '192.0.0.9/32', name: 'port control protocol anycast' },
  { cidr: '192.0.0.10/32', name: 'TURN anycast' },
  { cidr: '192.0.0.170/31', name: 'NAT64 discovery' },
  { cidr: '192.0.0.192/32', name: 'cloud metadata', never: true },
  { cidr: '192.0.2.0/24', name: 'documentation' },
  { cidr: '192.31.196.0/24', name: 'AS112' },
  { cidr: '192.52.193.0/24', name: 'automatic multicast tunneling' },
  { cidr: '192.88.99.0/24', name: '6to4 relay' },
  { cidr: '192.88.99.2/32', name: '6a44 relay' },
  { cidr: '192.168.0.0/16', name: 'private use' },
  { cidr: '192.175.48.0/24', name: 'AS112' },
  { cidr: '198.18.0.0/15', name: 'benchmarking' },
  { cidr: '198.51.100.0/24', name: 'documentation' },
  { cidr: '203.0.113.0/24', name: 'documentation' },
  { cidr: '224.0.0.0/4', name: 'multicast', never: true },
  { cidr: '240.0.0.0/4', name: 'reserved' },
  { cidr: '255.255.255.255/32', name: 'broadcast', never: true },
];

export const SPECIAL_V6: readonly SpecialRange[] = [
  { cidr: '::/3', name: 'reserved' },
  { cidr: '::/96', name: 'IPv4-compatible', embeds: 'last 32 bits' },
  { cidr: '::/128', name: 'unspecified' },
  { cidr: '::1/128', name: 'loopback' },
  { cidr: '::ffff:0:0/96', name: 'IPv4-mapped', embeds: 'last 32 bits' },
  { cidr: '::ffff:0:0:0/96', name: 'IPv4-translated', embeds: 'last 32 bits' },
  { cidr: '64:ff9b::/96', name: 'NAT64', embeds: 'last 32 bits' },
  // Operators choose the position of the IPv4 address (RFC 8215), so it cannot be extracted and checked.
  { cidr: '64:ff9b:1::/48', name: 'local NAT64', never: true },
  { cidr: '100::/64', name: 'discard only' },
  { cidr: '100:0:0:1::/64', name: 'IPv6 dummy prefix' },
  { cidr: '2001::/23', name: 'protocol assignments' },
  { cidr: '2001::/32', name: 'Teredo', embeds: 'teredo' },
  { cidr: '2001:1::1/128', name: 'port control protocol anycast' },
  { cidr: '2001:1::2/128', name: 'TURN anycast' },
  { cidr: '2001:1::3/128', name: 'service registration anycast' },
  { cidr: '2001:2::/48', name: 'benchmarking' },
  { cidr: '2001:3::/32', name: 'automatic multicast tunneling' },
  { cidr: '2001:4:112::/48', name: 'AS112' },
  { cidr: '2001:10::/28', name: 'ORCHID' },
  { cidr: '2001:20::/28', name: 'ORCHIDv2' },
  { cidr: '2001:30::/28', name: 'drone remote identification' },
  { cidr: '2001:db8::/32', name: 'documentation' },
  { cidr: '2002::/16', name: '6to4', embeds: '6to4' },
  { cidr: '2620:4f:8000::/48', name: 'AS112' },
  { cidr: '3fff::/20', name: 'documentation' },
  { cidr: '4000::/2', name: 'reserved' },
  { cidr: '5f00::/16', name: 'segment routing' },
  { cidr: '8000::/1', name: 'reserved' },
  { cidr: 'fc00::/7', name: 'unique local' },
  // AWS serves metadata (fd00:ec2::254), time, names and credentials here.
  { cidr: 'fd00:ec2::/32', name: 'cloud metadata', never: true },
  { cidr: 'fd20:ce::254/128', name: 'cloud metadata', never: true },
  { cidr: 'fe80::/10', name: 'link-local', never: true },
  { cidr: 'fec0::/10', name: 'site-local' },
  { cidr: 'ff00::/8', name: 'multicast', never: true },
];
