/** Replacement for a secret. */
export const HIDDEN = '[hidden]';

/** Names of JSON fields and query parameters with secret values. */
const NAMES = [
  'authorization',
  'proxy-?authorization',
  'cookie',
  'set-?cookie',
  '(?:x-)?api[-_]?keys?',
  'password',
  'passphrase',
  'secret',
  'credentials?',
  'private[-_]?key',
  'signing[-_]?key',
  'secret[-_]?keys?',
  '(?:\\w+[-_])?(?:access[-_]?key|key)[-_]?secret',
  '(?:aws[-_]?)?secret[-_]?access[-_]?key',
  'client[-_]?secret',
  '(?:access|refresh|id|session|security|bearer|bot|user|request)[-_]?token',
  'oauth[-_]?token(?:[-_]?secret)?',
  'x-amz-security-token',
  'code[-_]?verifier',
  'premium[-_]?prox(?:y|ies)(?:[-_]?urls)?',
].join('|');
/** Query parameters of signed URLs and of OAuth callbacks. */
const SIGNED = [
  'sig',
  'signature',
  'x-amz-signature',
  'x-amz-credential',
  'x-goog-signature',
  'x-goog-credential',
  'token',
  'key',
  'code',
  'state',
  'auth',
].join('|');

const STRING = '"(?:[^"\\\\]|\\\\.)*"';
/** `"name":"value"`; the value may also be a list or object of plain values. */
const FIELD = new RegExp(
  `("(?:${NAMES})"\\s*:\\s*)(?:${STRING}|\\[(?:[^[\\]{}"]|${STRING})*\\]|\\{(?:[^[\\]{}"]|${STRING})*\\})`,
  'gi',
);
/** The same field in JSON that is escaped inside a JSON string. */
const QUOTED_FIELD = new RegExp(`(\\\\"(?:${NAMES})\\\\"\\s*:\\s*\\\\")[^"\\\\]*`, 'gi');
/** `name=value` in a query or a form. */
const PARAMETER = new RegExp(`([?&](?:${NAMES}|${SIGNED})=)[^&\\s"'\\\\<>#]+`, 'gi');
/** Credentials after the name of an authorization scheme. */
const SCHEME = /\b(Bearer|Basic|Token|OAuth|AWS4-HMAC-SHA256)(\s+)(?=[^\s"]*[\d=.])[^\s"\\,;]{8,}/g;
/** `//name:password@host` */
const USERINFO = /(\/\/)[^\s/"'\\@:]+:[^\s/"'\\@]+@/g;
/** Keys and tokens of this service, and JSON Web Tokens of any. */
const KEYS = /\balk_[\w-]{8,}|\bal[tr]\.[\w.-]{16,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g;

/** Replaces the secrets in a log line. It runs for every line, so it must be fast. */
export function hideSecrets(line: string): string {
  return line
    .replace(FIELD, `$1"${HIDDEN}"`)
    .replace(QUOTED_FIELD, `$1${HIDDEN}`)
    .replace(PARAMETER, `$1${HIDDEN}`)
    .replace(SCHEME, `$1$2${HIDDEN}`)
    .replace(USERINFO, `$1${HIDDEN}@`)
    .replace(KEYS, HIDDEN);
}
