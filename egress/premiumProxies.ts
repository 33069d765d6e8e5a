import { Pool, ProxyAgent, type Dispatcher } from 'undici';

import { Fault } from '../contract/failures.js';
import { orAborted } from './deadline.js';
import type { Guard } from './guard.js';
import { networkFault } from './networkFault.js';
import type { Route } from './route.js';
import type { EgressSettings } from './types.js';

export interface PremiumProxies {
  /** Returns the route through the next proxy; null when none is configured. */
  next(): Route | null;
  close(): Promise<void>;
}

/**
 * Creates the routes through the operator's HTTP proxies, which are used in turn. The operator's proxy addresses are
 * trusted and not checked. Each target is checked: its name is resolved here before the request goes to the proxy. The
 * proxy resolves the name again, so a name that changes in between can reach hosts in the proxy's network, but not in
 * ours.
 */
export function createPremiumProxies(settings: EgressSettings, guard: Guard): PremiumProxies {
  const proxies = settings.premiumProxies.map((address) => openRoute(new URL(address), settings, guard));
  let requests = 0;
  return {
    next() {
      const proxy = proxies[requests % proxies.length];
      requests += 1;
      return proxy?.route ?? null;
    },
    close: async () => void (await Promise.all(proxies.map((proxy) => proxy.close()))),
  };
}

function openRoute(proxy: URL, settings: EgressSettings, guard: Guard): { route: Route; close(): Promise<void> } {
  const { connectTimeoutMs: timeout, headersTimeoutMs: headersTimeout, bodyTimeoutMs: bodyTimeout } = settings;
  const token = credentialsOf(proxy);
  const agent = new ProxyAgent({
    uri: proxy.origin,
    ...(token === null ? {} : { token }),
    // Plain HTTP requests use the absolute-form URL: many proxies open tunnels to port 443 only.
    proxyTunnel: false,
    proxyTls: { timeout },
    requestTls: { timeout },
    factory: (origin, options) =>
      new Pool(origin, { ...options, connections: settings.connectionsPerHost, headersTimeout, bodyTimeout }),
  });
  const tunnels: Dispatcher = new Pool(proxy.origin, { connect: { timeout }, headersTimeout });

  const route: Route = {
    async request({ url, host, port }, request) {
      await orAborted(guard.resolve(host, port), request.signal);
      return agent.request({ ...request, origin: url.origin, path: url.pathname + url.search });
    },

    async connect(host, port) {
      await guard.resolve(host, port);
      const authority = `${host.includes(':') ? `[${host}]` : host}:${String(port)}`;
      const { statusCode, socket } = await tunnels.connect({
        origin: proxy.origin,
        path: authority,
        headers: { host: authority, ...(token === null ? {} : { 'proxy-authorization': token }) },
      });
      if (statusCode === 200) return socket;
      socket.on('error', () => undefined).destroy();
      throw throughProxy(host, `it answered HTTP ${String(statusCode)}`);
    },

    explain(error, host) {
      if (error instanceof Fault) return error;
      const fault = networkFault(error, host, settings);
      // The error does not show whether the proxy or the site failed; a timeout is reported the same way for both.
      if (fault.kind !== 'unreachable') return fault;
      const what = isProxyLogin(error) ? 'it rejected our credentials' : 'the connection failed or broke';
      return throughProxy(host, what, error);
    },
  };
  return { route, close: async () => void (await Promise.all([agent.destroy(), tunnels.destroy()])) };
}

/** Returns whether the proxy answered 407: undici reports it as an error of its own, known only by its message. */
function isProxyLogin(error: unknown): boolean {
  return error instanceof Error && /^Proxy (?:Authentication Required|response) \(407\)/.test(error.message);
}

/** Creates a Fault that does not name the proxy: the caller must not learn which proxies the operator uses. */
function throughProxy(host: string, what: string, cause?: unknown): Fault {
  return new Fault(
    'unreachable',
    `${host} could not be reached through a premium proxy: ${what}. Try again later; if you run this service, check the proxies in the setting PREMIUM_PROXY_URLS.`,
    cause === undefined ? {} : { cause },
  );
}

function credentialsOf({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}
