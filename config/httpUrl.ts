/** Returns the URL of a server. An IPv6 address needs brackets (RFC 3986, section 3.2.2). */
export const httpUrl = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
