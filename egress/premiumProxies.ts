import { Pool, ProxyAgent, type Dispatcher } from 'undici';

import { Fault } from '../contract/failures.js';
import { orAborted } from './deadline.js';
import type { Guard } from './guard.js';
import { networkFault } from './networkFault.js';
import type { Route } from './route.js';
import type { EgressSettings } from './types.js';

export interface PremiumProxies {
  /** The route through the proxy whose turn it is; null when there are none. */
  next(): Route | null;
  close(): Promise<void>;
}

/**
 * The operator's second way out: HTTP proxies in turn. A proxy's own address is the operator's word and is not judged.
 * What is fetched through it is: its name is resolved and checked here before the proxy hears of it. The proxy resolves
 * it once more, out of our sight, so a name that changes in between reaches what the *proxy* can reach, not what we can.
 */
export function createPremiumProxies(settings: EgressSettings, guard: Guard): PremiumProxies {
  const proxies = settings.premiumProxies.map((address) => openRoute(new URL(address), settings, guard));
  let turn = 0;
  return {
    next() {
      const proxy = proxies[turn % proxies.length];
      turn += 1;
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
    // Plain pages are asked for by their whole address; many proxies open tunnels to port 443 only.
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
      const answer = await agent.request({ ...request, origin: url.origin, path: url.pathname + url.search });
      if (answer.statusCode !== 407) return answer;
      await answer.body.dump().catch(() => undefined);
      throw throughProxy(host, 'it refused our credentials');
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
      // Whether the proxy or the site failed can't be told apart; a time limit says the same of both.
      return fault.kind === 'unreachable' ? throughProxy(host, 'the connection failed or broke', error) : fault;
    },
  };
  return { route, close: async () => void (await Promise.all([agent.destroy(), tunnels.destroy()])) };
}

/** Never names the proxy: whoever reads the sentence may not learn of the operator's contract. */
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
