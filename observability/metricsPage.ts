import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { Log } from './log.js';
import type { Metrics } from './metrics.js';

/** An answer to a request for the metrics. */
export interface MetricsAnswer {
  readonly status: 200 | 401;
  readonly contentType: string;
  readonly text: string;
}

/** The metrics, for those who may read them. */
export interface MetricsPage {
  /** @param authorization the header of that name */
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
 * @param token null: anyone who reaches it may read
 * @param others what somebody else counts of this process, in the same format; left out where it can't be had
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

/** Serves the page alone, at GET /metrics of a port of its own. @throws when the port can't be had */
export async function serveMetrics(page: MetricsPage, port: number, host: string): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, text: string): void => {
      response.writeHead(status, { 'content-type': type }).end(text);
    };
    const refuse = (status: number, detail: string): void => answer(status, JSON_TYPE, JSON.stringify({ detail }));
    if (request.url?.split('?', 1)[0] !== '/metrics') return refuse(404, 'No such path.');
    if (request.method !== 'GET') return refuse(405, 'This path takes GET.');
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

export interface MetricsPlace {
  /** Null: they are not served. */
  readonly port: number | null;
  readonly host: string;
  readonly token: string | null;
  /** What the port is set by. */
  readonly setting: string;
}

/**
 * Serves a process's metrics where its settings want them. A port that another process of this machine has is told, and
 * is no reason to leave the work.
 */
export async function offerMetrics(
  metrics: Pick<Metrics, 'scrape'>,
  { port, host, token, setting }: MetricsPlace,
  log: Log,
  others?: () => Promise<string>,
): Promise<MetricsServer | null> {
  if (port === null) return null;
  try {
    const served = await serveMetrics(createMetricsPage(metrics, token, others), port, host);
    log.info({ port: served.port }, 'metrics served');
    return served;
  } catch (error) {
    log.error({ err: error }, `metrics are not served; give each process a ${setting} of its own`);
    return null;
  }
}
