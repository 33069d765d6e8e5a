import { lookup as systemLookup } from 'node:dns/promises';
import { Readable } from 'node:stream';
import { Agent, Pool, type Dispatcher } from 'undici';

import { Fault } from '../contract/failures.js';
import { createConnector } from './connect.js';
import { orAborted, seconds, startDeadline } from './deadline.js';
import { ACCEPT_ENCODING } from './decode.js';
import { createGuard, type Lookup, type Target } from './guard.js';
import { createPremiumProxies } from './premiumProxies.js';
import { openProxy } from './proxy.js';
import { redirected, type Step } from './redirect.js';
import { drain, responseBody } from './responseBody.js';
import { createDirectRoute, type Route } from './route.js';
import type { Egress, EgressRequest, EgressSettings, WatchRequest, RouteKind } from './types.js';

/**
 * Creates the only way to send outbound requests. Connections are pooled per origin, at most
 * settings.connectionsPerHost each.
 * @param options.lookup resolves names; tests pass their own
 * @param options.watch observes each exchange; null: none
 * @throws Error when an entry of allowedPrivateHosts can't be read
 */
export function createEgress(
  settings: EgressSettings,
  { lookup = systemResolver, watch = null }: { readonly lookup?: Lookup; readonly watch?: WatchRequest | null } = {},
): Egress {
  const guard = createGuard(settings, lookup);
  const agent = new Agent({
    factory: (origin) =>
      new Pool(origin, {
        connections: settings.connectionsPerHost,
        headersTimeout: settings.headersTimeoutMs,
        bodyTimeout: settings.bodyTimeoutMs,
        connect: createConnector(guard, guard.target(String(origin)).port, settings.connectTimeoutMs),
      }),
  });

  const direct = createDirectRoute(guard, agent, settings);
  const premium = createPremiumProxies(settings, guard);

  const routeOf = (kind: RouteKind = 'direct'): Route => {
    if (kind === 'direct') return direct;
    const route = premium.next();
    if (route === null) throw new Error('No premium proxies are configured: check hasPremiumProxies first');
    return route;
  };

  /** Returns the error for the caller: the caller's own abort, the time limit, or the network failure. */
  const explain = (error: unknown, route: Route, host: string, signal: AbortSignal): unknown =>
    signal.aborted ? signal.reason : route.explain(error, host);

  /** Follows redirects until the final response. */
  async function exchange(
    request: EgressRequest,
    route: Route,
    signal: AbortSignal,
  ): Promise<{ target: Target; answer: Dispatcher.ResponseData }> {
    let step = firstStep(request, settings.userAgent);
    const seen = new Set<string>();
    for (let redirects = 0; ; redirects += 1) {
      const target = guard.target(step.url);
      seen.add(`${step.method} ${target.url.href}`);
      const { method, body } = step;
      const answer = await route
        .request(target, { method, headers: { ...step.headers }, body, signal })
        .catch((error: unknown) => {
          throw explain(error, route, target.host, signal);
        });
      const next = redirected(step, answer.statusCode, firstValue(answer.headers['location']));
      if (next === null || request.redirects === 'answer') return { target, answer };
      await drain(answer.body, firstValue(answer.headers['content-length']));
      if (seen.has(`${next.method} ${next.url}`)) throw tooManyRedirects(target.host, 'redirects in a loop');
      if (redirects >= settings.maxRedirects)
        throw tooManyRedirects(target.host, `was reached after ${String(redirects)} redirects and redirects again`);
      guard.target(next.url);
      await request.onRedirect?.(next.url, answer.statusCode);
      step = next;
    }
  }

  return {
    async request(request) {
      request.signal?.throwIfAborted();
      const { host: requestedHost } = guard.target(request.url);
      const timedOut = (): Fault =>
        new Fault(
          'timed_out',
          `${requestedHost} did not send its complete response within ${seconds(request.totalTimeoutMs)}. Try again later.`,
        );
      const { signal, end } = startDeadline(request.totalTimeoutMs, timedOut, request.signal);
      const route = routeOf(request.route);
      const ended = watch?.({ system: 'http', operation: request.method ?? 'GET', target: requestedHost });
      const { target, answer } = await exchange(request, route, signal).catch((error: unknown) => {
        end();
        ended?.({ failed: true });
        throw error;
      });
      const { host, url } = target;
      const headers = flatten(answer.headers);
      return {
        status: answer.statusCode,
        headers,
        url: url.href,
        ...responseBody({
          source: answer.body,
          headers,
          host,
          maxBytes: request.maxBytes,
          explain: (error) => explain(error, route, host, signal),
          onEnd() {
            end();
            ended?.({ failed: answer.statusCode >= 400, status: answer.statusCode });
          },
        }),
      };
    },

    async check(url, signal) {
      signal?.throwIfAborted();
      const { host, port } = guard.target(url);
      const timedOut = (): Fault =>
        new Fault(
          'dns_failed',
          `The host name ${host} was not resolved within ${seconds(settings.connectTimeoutMs)}. Try again later.`,
        );
      const deadline = startDeadline(settings.connectTimeoutMs, timedOut, signal);
      try {
        await orAborted(guard.resolve(host, port), deadline.signal);
      } finally {
        deadline.end();
      }
    },

    mayCall: (url) => guard.mayCall(url),

    hasPremiumProxies: settings.premiumProxies.length > 0,

    // One page uses one proxy: a site may bind its sessions to the client's address.
    openProxy: ({ maxBytes, route }) => openProxy({ maxBytes, guard, route: routeOf(route) }),

    // Use destroy(): close() would wait for the slowest server.
    close: async () => void (await Promise.all([agent.destroy(), premium.close()])),
  };
}

const systemResolver: Lookup = (hostname) => systemLookup(hostname, { all: true });

/**
 * Headers that belong to the connection or are computed from the request. A caller's own values would contradict them.
 */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function firstStep(request: EgressRequest, userAgent: string): Step {
  const callerHeaders = Object.entries(request.headers ?? {})
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !OWN_HEADERS.has(name));
  return {
    url: request.url,
    method: request.method ?? 'GET',
    headers: {
      'user-agent': userAgent,
      accept: '*/*',
      'accept-encoding': ACCEPT_ENCODING,
      ...Object.fromEntries(callerHeaders),
      ...(request.bodyBytes === undefined ? {} : { 'content-length': String(request.bodyBytes) }),
    },
    body: sentBody(request),
  };
}

function sentBody({ body, redirects }: EgressRequest): Step['body'] {
  if (body === undefined) return null;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  if (redirects !== 'answer') throw new Error('A streamed body cannot be sent again: set redirects to answer');
  return Readable.from(body, { objectMode: false });
}

function tooManyRedirects(host: string, what: string): Fault {
  return new Fault('too_many_redirects', `The address on ${host} ${what}. Use the final address of the content.`);
}

function firstValue(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function flatten(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}
