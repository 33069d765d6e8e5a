/** Parsers of HTTP settings that contain lists. */

const parts = (value: string): string[] =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Names of address ranges, as in Express. */
const RANGE_NAMES: readonly string[] = ['loopback', 'linklocal', 'uniquelocal'];
/** A larger number of hops is probably a mistyped port or address. */
const MAX_HOPS = 10;

/**
 * Returns the number of bits of an IP address; 0 if the text is not an address. An octet with a leading zero is
 * invalid: Express would read it as an octal number, and trust another address.
 */
function bitsOf(address: string): number {
  if (address.includes(':')) return URL.canParse(`http://[${address}]/`) ? 128 : 0;
  const octets = address.split('.');
  return octets.length === 4 && octets.every((octet) => /^(?:0|[1-9]\d{0,2})$/.test(octet) && Number(octet) <= 255)
    ? 32
    : 0;
}

function isRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/');
  const maxBits = bitsOf(address);
  if (maxBits === 0 || rest.length > 0) return false;
  // Express refuses ranges of 0 bits, which would trust every address.
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= maxBits);
}

/**
 * Parses TRUST_PROXY: a number of hops, or addresses, ranges and names of ranges.
 * @throws Error whose message follows the name of the setting
 */
export function readTrustProxy(value: string): number | readonly string[] {
  const found = parts(value);
  const [single = ''] = found;
  if (found.length === 1 && /^\d+$/.test(single)) {
    if (Number(single) > MAX_HOPS) throw new Error(`accepts at most ${MAX_HOPS} hops`);
    return Number(single);
  }
  const invalid = found.find((part) => !RANGE_NAMES.includes(part) && !isRange(part));
  if (invalid !== undefined)
    throw new Error(
      `accepts a number of hops, or addresses such as 10.0.0.1, 10.0.0.0/8 or loopback, but not "${invalid}"`,
    );
  return found;
}

/** Schemes that a browser executes or opens locally. They are never allowed as redirect targets. */
const FORBIDDEN_SCHEMES: readonly string[] = [
  ...['javascript', 'data', 'vbscript', 'file', 'blob', 'filesystem', 'about', 'view-source', 'jar'],
  ...['chrome', 'resource', 'ws', 'wss', 'ftp', 'mailto', 'tel', 'sms', 'intent', 'urn'],
];

/**
 * Parses REDIRECT_URI_SCHEMES: schemes of apps (RFC 8252, 7.1). Returns them in lower case.
 * @throws Error whose message follows the name of the setting
 */
export function readRedirectUriSchemes(value: string): readonly string[] {
  const schemes = parts(value).map((part) => part.toLowerCase());
  const invalid = schemes.find((scheme) => !/^[a-z][a-z\d+.-]*$/.test(scheme) || FORBIDDEN_SCHEMES.includes(scheme));
  if (invalid !== undefined) throw new Error(`accepts app schemes such as com.example.app, but not "${invalid}"`);
  return schemes;
}
