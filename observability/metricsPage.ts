import { createHash, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

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

/** @param token null: anyone who reaches it may read */
export function createMetricsPage(metrics: Metrics, token: string | null): MetricsPage {
  const mayRead = (authorization = ''): boolean => {
    if (token === null) return true;
    const [, sent = ''] = /^bearer\s+(\S+)\s*$/i.exec(authorization) ?? [];
    return timingSafeEqual(digest(sent), digest(token));
  };
  return {
    read: async (authorization) => (mayRead(authorization) ? { status: 200, ...(await metrics.scrape()) } : REFUSED),
  };
}

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Serves the page alone at GET /metrics, for a process that serves nothing else. @throws when the port can't be had */
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
