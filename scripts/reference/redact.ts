/** Replaces secrets, and values that differ between runs, in recorded examples. */

const API = 'https://api.example.com';
const SITE = 'https://www.example.com';
/** Fields whose values are replaced as a whole. */
const SECRETS =
  /^(?:access_token|refresh_token|access_token_secret|signing_key|api_key|client_secret|signature|account_key|access_key|access_key_secret)$/;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const LOOPBACK = /https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\]|[\w.-]+\.localhost)(?::\d+)?/g;
const ENCODED_LOOPBACK = /https?%3A%2F%2F(?:localhost|127\.0\.0\.1)(?:%3A\d+)?/gi;
const SIGNED = /([?&](?:key|signature|state|token|code)=)[^&"\s]+/g;
/** Name and password in an address. */
const LOGIN = /(:\/\/)[^\s/@"]*@/g;
/** Maximum length of a list, of a list of numbers, and of a text in an example. */
const MAX_ITEMS = 2;
const MAX_NUMBERS = 4;
const MAX_CHARACTERS = 400;

/** Replaces addresses of this machine, times, UUIDs, and secrets in addresses; removes logins; shortens the text. */
function redactText(text: string, baseUrl: string): string {
  const redacted = text
    .replaceAll(baseUrl, API)
    .replaceAll(LOGIN, '$1')
    .replaceAll(LOOPBACK, SITE)
    .replaceAll(ENCODED_LOOPBACK, encodeURIComponent(API))
    .replaceAll(/(?:localhost|127\.0\.0\.1):\d+/g, 'www.example.com')
    .replaceAll(SIGNED, '$1…')
    .replaceAll(UUID, '7d9f2c1e-4b3a-4e8f-9c6d-2a1b0c3d4e5f')
    .replaceAll(TIME, '2026-01-15T09:30:00.000Z');
  return redacted.length > MAX_CHARACTERS ? `${redacted.slice(0, MAX_CHARACTERS)}…` : redacted;
}

/** Returns a recorded value with secrets and volatile parts replaced, and long lists shortened. */
export function redact(value: unknown, baseUrl: string, name = ''): unknown {
  if (typeof value === 'string') return SECRETS.test(name) ? `<${name}>` : redactText(value, baseUrl);
  if (Array.isArray(value)) {
    const maxItems = value.every((element) => typeof element === 'number') ? MAX_NUMBERS : MAX_ITEMS;
    return value.slice(0, maxItems).map((element) => redact(element, baseUrl, name));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, redact(member, baseUrl, key)]));
}
