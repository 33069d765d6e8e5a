import { isIPv6 } from 'node:net';

import { parseCidr, within, type Cidr } from './specialRanges.js';

/** The exceptions that ALLOWED_PRIVATE_HOSTS and ALLOWED_PORTS allow. */
export interface Allowances {
  /** Returns whether the host is listed by name, so it may have private addresses. */
  names(host: string, port: number): boolean;
  /** Returns whether the address is inside one of the named ranges. */
  covers(address: string): boolean;
  port(host: string, port: number): boolean;
}

/**
 * Parses the entries: `host`, `host:port` and CIDR. An IP address without a prefix length is a host: it allows URLs
 * that contain this address, but not names that resolve to it. With `/32` or `/128` it allows both.
 * @throws Error naming the entry that cannot be parsed
 */
export function createAllowances(allowedPrivateHosts: readonly string[], allowedPorts: readonly number[]): Allowances {
  const ranges: Cidr[] = [];
  const hosts = new Set<string>();
  for (const entry of allowedPrivateHosts) {
    if (entry.includes('/')) {
      const cidr = parseCidr(entry);
      if (cidr === null) throw unreadable(entry);
      ranges.push(cidr);
    } else {
      hosts.add(hostEntry(entry));
    }
  }
  const hasPort = (host: string, port: number): boolean => hosts.has(`${hostKey(host)}:${String(port)}`);
  return {
    names: (host, port) => hosts.has(hostKey(host)) || hasPort(host, port),
    covers: (address) => ranges.some((range) => within(address, range)),
    port: (host, port) => allowedPorts.length === 0 || allowedPorts.includes(port) || hasPort(host, port),
  };
}

/** Returns a host without a final dot. An IPv6 address gets brackets, which separate it from a port. */
function hostKey(host: string): string {
  const name = host.endsWith('.') ? host.slice(0, -1) : host;
  return isIPv6(name) ? `[${name}]` : name;
}

/** Normalizes a host as URLs do, so that `LOCALHOST`, `127.1` and `::1` mean the same as in a URL. */
function hostEntry(entry: string): string {
  const isV6WithoutPort = (entry.match(/:/g)?.length ?? 0) > 1 && !entry.startsWith('[');
  const [, host = entry, port] = isV6WithoutPort ? [entry, `[${entry}]`] : (/^(.*?)(?::(\d+))?$/.exec(entry) ?? []);
  if (/[/?#@\\]/.test(host) || !URL.canParse(`http://${host}/`) || Number(port ?? 0) > 65_535) throw unreadable(entry);
  const hostname = hostKey(new URL(`http://${host}/`).hostname);
  return port === undefined ? hostname : `${hostname}:${port}`;
}

function unreadable(entry: string): Error {
  return new Error(`ALLOWED_PRIVATE_HOSTS: "${entry}" is neither a host, host:port nor a range such as 10.0.0.0/8`);
}
