import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Log } from './log.js';
import type { Metrics } from './metrics.js';

/** Response to a request for the metrics. */
export interface MetricsAnswer {
  readonly status: 200 | 401;
  readonly contentType: string;
  readonly text: string;
}

/** The metrics, protected by a token. */
export interface MetricsPage {
  /** @param authorization the Authorization header */
  read(authorization: string | undefined): Promise<MetricsAnswer>;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const REFUSED: MetricsAnswer = {
  status: 401,
  contentType: JSON_TYPE,
  text: JSON.stringify({ detail: 'Send `Authorization: Bearer <METRICS_TOKEN of this deployment>`.' }),
};

const digest = (value: string): Buffer => createHash('sha256').update(value).digest();

/**
 * Creates the page.
 * @param token null: no token is required
 * @param others metrics of this process from another library in the same format; omitted if unavailable
 */
export function createMetricsPage(
  metrics: Pick<Metrics, 'scrape'>,
  token: string | null,
  others: () => Promise<string> = () => Promise.resolve(''),
): MetricsPage {
  const mayRead = (authorization = ''): boolean => {
    if (token === null) return true;
    const [, sent = ''] = /^bearer\s+(\S+)\s*$/i.exec(authorization) ?? [];
    return timingSafeEqual(digest(sent), digest(token));
  };
  return {
    async read(authorization) {
      if (!mayRead(authorization)) return REFUSED;
      const [{ contentType, text }, more] = await Promise.all([metrics.scrape(), others().catch(() => '')]);
      return { status: 200, contentType, text: `${text}${more}` };
    },
  };
}

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves only GET /metrics, on its own port. @throws if the port is not available */
export async function serveMetrics(page: MetricsPage, port: number, host: string): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, text: string): void => {
      response.writeHead(status, { 'content-type': type }).end(text);
    };
    const refuse = (status: number, detail: string): void => answer(status, JSON_TYPE, JSON.stringify({ detail }));
    if (request.url?.split('?', 1)[0] !== '/metrics') return refuse(404, 'This port serves only GET /metrics.');
    if (request.method !== 'GET') return refuse(405, 'Use GET.');
    page.read(request.headers.authorization).then(
      ({ status, contentType, text }) => answer(status, contentType, text),
      () => refuse(500, 'The metrics could not be read.'),
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

export interface MetricsEndpoint {
  /** Null: the metrics are not served. */
  readonly port: number | null;
  readonly host: string;
  readonly token: string | null;
  /** Name of the setting for the port. */
  readonly setting: string;
}

/**
 * Serves a process's metrics on the configured port. If that fails, for example because another process uses the port,
 * the error is logged and the process continues without them.
 */
export async function serveMetricsIfConfigured(
  metrics: Pick<Metrics, 'scrape'>,
  { port, host, token, setting }: MetricsEndpoint,
  log: Log,
  others?: () => Promise<string>,
): Promise<MetricsServer | null> {
  if (port === null) return null;
  try {
    const served = await serveMetrics(createMetricsPage(metrics, token, others), port, host);
    log.info({ port: served.port }, 'metrics served');
    return served;
  } catch (error) {
    log.error({ err: error }, `metrics are not served; give each process its own ${setting}`);
    return null;
  }
}
