/** The port of Qdrant's HTTP API, if the URL has none. */
const DEFAULT_PORT = 6333;

export interface QdrantAddress {
  readonly url: string;
  readonly apiKey: string | null;
}

/** The parts of Qdrant's URL. */
interface QdrantEndpoint {
  readonly protocol: string;
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  readonly port: number;
  /** Path in front of all requests, for example of a reverse proxy; without a slash at its end, '' for none. */
  readonly prefix: string;
}

/**
 * Returns the parts of Qdrant's URL. `URL.port` is empty for the default port of the scheme, so the port is read from
 * the text: `https://host:443` names port 443, and `https://host` the port of Qdrant.
 */
export function qdrantEndpoint(url: string): QdrantEndpoint {
  const { protocol, hostname, pathname } = new URL(url);
  const port = /^\w+:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/.exec(url)?.[1];
  return {
    protocol,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === undefined ? DEFAULT_PORT : Number(port),
    prefix: pathname.replace(/\/+$/, ''),
  };
}

/** Returns the options of Qdrant's client, which ignores the path of a URL and default ports of the scheme. */
export function clientOptions({ url, apiKey }: QdrantAddress) {
  const { port, prefix } = qdrantEndpoint(url);
  return {
    ...{ url: new URL(url).origin, port, prefix, checkCompatibility: false },
    ...(apiKey === null ? {} : { apiKey }),
  };
}
