/** Settings of the HTTP interface that are lists of their own form. */

const parts = (value: string): string[] =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Express's names of ranges. */
const RANGE_NAMES: readonly string[] = ['loopback', 'linklocal', 'uniquelocal'];
/** A chain of proxies longer than this is a mistyped port or address. */
const MAX_HOPS = 10;

/** Bits of an IP address as it is usually written; 0 for other texts. */
function bitsOf(address: string): number {
  if (address.includes(':')) return URL.canParse(`http://[${address}]/`) ? 128 : 0;
  const octets = address.split('.');
  return octets.length === 4 && octets.every((octet) => /^\d{1,3}$/.test(octet) && Number(octet) <= 255) ? 32 : 0;
}

function isRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const most = bitsOf(address);
  if (most === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
}

/**
 * Parses TRUST_PROXY: a number of hops, or addresses, ranges and names of ranges.
 * @throws Error that continues the setting's name
 */
export function readTrustProxy(value: string): number | readonly string[] {
  const found = parts(value);
  const [only = ''] = found;
  if (found.length === 1 && /^\d+$/.test(only)) {
    if (Number(only) > MAX_HOPS) throw new Error(`takes ${MAX_HOPS} hops at most`);
    return Number(only);
  }
  const wrong = found.find((part) => !RANGE_NAMES.includes(part) && !isRange(part));
  if (wrong !== undefined)
    throw new Error(`takes a number of hops, or addresses such as 10.0.0.1, 10.0.0.0/8 or loopback, and no "${wrong}"`);
  return found;
}

/** Schemes that a browser runs or opens locally: never the place where a consent ends. */
const NEVER: readonly string[] = [
  ...['javascript', 'data', 'vbscript', 'file', 'blob', 'filesystem', 'about', 'view-source', 'jar'],
  ...['chrome', 'resource', 'ws', 'wss', 'ftp', 'mailto', 'tel', 'sms', 'intent', 'urn'],
];

/**
 * Parses REDIRECT_URI_SCHEMES: schemes of apps (RFC 8252, 7.1), in lower case.
 * @throws Error that continues the setting's name
 */
export function readRedirectUriSchemes(value: string): readonly string[] {
  const schemes = parts(value).map((part) => part.toLowerCase());
  const wrong = schemes.find((scheme) => !/^[a-z][a-z\d+.-]*$/.test(scheme) || NEVER.includes(scheme));
  if (wrong !== undefined) throw new Error(`takes schemes of apps, such as com.example.app, and no "${wrong}"`);
  return schemes;
}
