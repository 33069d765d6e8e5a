import { isIP } from 'node:net';

import { Fault } from '../contract/failures.js';
import { createAllowances } from './allowances.js';
import { specialRanges } from './specialRanges.js';
import type { EgressSettings } from './types.js';

export interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a name to all its A and AAAA records. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/** A URL that passed all checks that need no name resolution. */
export interface Target {
  readonly url: URL;
  /** Host without the brackets of an IPv6 literal. */
  readonly host: string;
  readonly port: number;
}

/** Decides which hosts may be called. Every method except `mayCall` throws a Fault to refuse. */
export interface Guard {
  /** Checks the URL itself: scheme, credentials, port and IP literal. */
  target(url: string): Target;
  /** Returns whether the port and the IP literal of an http(s) URL pass `literal`. */
  mayCall(url: URL): boolean;
  /** Checks a port and an IP literal, for a host without a URL. */
  literal(host: string, port: number): void;
  /** Resolves a host and checks each of its addresses. */
  resolve(host: string, port: number): Promise<readonly ResolvedAddress[]>;
  /** Checks the remote address of a connected socket. */
  connected(address: string | undefined, host: string, port: number): void;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const HOW_TO_ALLOW = 'name it in the setting ALLOWED_PRIVATE_HOSTS';

export function createGuard(
  settings: Pick<EgressSettings, 'allowedPrivateHosts' | 'allowedPorts'>,
  lookup: Lookup,
): Guard {
  const allowances = createAllowances(settings.allowedPrivateHosts, settings.allowedPorts);

  const refusing = (address: string, host: string, port: number) => {
    const found = specialRanges(address);
    const named = allowances.names(host, port);
    return found.find(({ range }) => range.never) ?? found.find((match) => !named && !allowances.covers(match.address));
  };

  const guard: Guard = {
    target(text) {
      const url = URL.canParse(text) ? new URL(text) : null;
      if (url === null)
        throw refused(`"${shorten(text)}" is not a web address. Give one that starts with http:// or https://.`);
      const defaultPort = DEFAULT_PORTS[url.protocol];
      if (defaultPort === undefined) {
        throw refused(
          `"${shorten(text)}" uses ${url.protocol} but only http and https can be called. Give an address that starts with http:// or https://.`,
        );
      }
      const host = hostOf(url);
      if (url.username !== '' || url.password !== '') {
        throw refused(`The address on ${host} contains a user name or password. Remove them from the address.`);
      }
      const port = url.port === '' ? defaultPort : Number(url.port);
      guard.literal(host, port);
      url.hash = '';
      return { url, host, port };
    },

    mayCall(url) {
      try {
        guard.literal(hostOf(url), url.port === '' ? (DEFAULT_PORTS[url.protocol] ?? 0) : Number(url.port));
        return true;
      } catch (error) {
        if (error instanceof Fault) return false;
        throw error;
      }
    },

    literal(host, port) {
      if (port === 0 || !allowances.port(host, port)) {
        throw refused(
          `Port ${String(port)} of ${host} can't be called. If you run this service, name the port in the setting ALLOWED_PORTS.`,
        );
      }
      if (isIP(host) === 0) return;
      const finding = refusing(host, host, port);
      if (finding?.range.never) {
        throw refused(
          `The address ${host} is never called (${finding.range.name}). Give the address of a public site.`,
        );
      }
      if (finding) {
        throw refused(
          `The address ${host} is not public (${finding.range.name}). If you run this service and want it to be called, ${HOW_TO_ALLOW}.`,
        );
      }
    },

    async resolve(host, port) {
      guard.literal(host, port);
      const family = isIP(host);
      if (family !== 0) return [{ address: host, family }];
      const addresses = await addressesOf(host, lookup);
      // One refused address refuses the whole name: a name that mixes public and private addresses is an attack or a
      // misconfiguration.
      for (const { address } of addresses) {
        if (isIP(address) === 0 || refusing(address, host, port)) throw notPublic(host);
      }
      return addresses;
    },

    connected(address, host, port) {
      if (address === undefined || isIP(address) === 0 || refusing(address, host, port)) throw notPublic(host);
    },
  };
  return guard;
}

/** Returns the host without the brackets of an IPv6 literal. */
const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '');

async function addressesOf(host: string, lookup: Lookup): Promise<readonly ResolvedAddress[]> {
  const unknown = (cause?: unknown) =>
    new Fault(
      'dns_failed',
      `The host name ${host} can't be resolved. Check its spelling, or try again when its name server answers.`,
      { cause },
    );
  const addresses = await lookup(host).catch((cause: unknown) => {
    throw unknown(cause);
  });
  if (addresses.length === 0) throw unknown();
  return addresses;
}

/** Creates the Fault without the addresses: the caller must not learn what a name resolves to inside this network. */
function notPublic(host: string): Fault {
  return refused(
    `${host} can't be called: its name does not resolve to public addresses only. If you run this service and want the host to be called, ${HOW_TO_ALLOW}; link-local and cloud metadata addresses are always refused.`,
  );
}

function refused(sentence: string): Fault {
  return new Fault('address_refused', sentence);
}

/** Removes the parts that may be secret, and limits the length. */
function shorten(text: string): string {
  const plain = text.replace(/\/\/[^/?#]*@/, '//').replace(/[?#].*$/s, '');
  return plain.length > 200 ? `${plain.slice(0, 200)}…` : plain;
}
