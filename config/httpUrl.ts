import { isIPv6 } from 'node:net';

/** Returns the URL of a server that listens on a host and port. An IPv6 address is put in brackets. */
export const httpUrl = (host: string, port: number): string =>
  `http://${isIPv6(host) ? `[${host}]` : host}:${String(port)}`;
