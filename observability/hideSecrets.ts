/** What stands in place of a secret. */
export const HIDDEN = '[hidden]';

/** Names, as JSON or a query has them, whose values are nobody's business. */
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
/** Parts of signed addresses, and of those that people come back to us with. */
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
/** `"name":"value"`, and where the value is a list or an object of plain values. */
const FIELD = new RegExp(
  `("(?:${NAMES})"\\s*:\\s*)(?:${STRING}|\\[(?:[^[\\]{}"]|${STRING})*\\]|\\{(?:[^[\\]{}"]|${STRING})*\\})`,
  'gi',
);
/** The same in a text that is JSON itself. */
const QUOTED_FIELD = new RegExp(`(\\\\"(?:${NAMES})\\\\"\\s*:\\s*\\\\")[^"\\\\]*`, 'gi');
/** `name=value` of a query or a form. */
const PARAMETER = new RegExp(`([?&](?:${NAMES}|${SIGNED})=)[^&\\s"'\\\\<>#]+`, 'gi');
/** What follows the name of a way to authorize. */
const SCHEME = /\b(Bearer|Basic|Token|OAuth|AWS4-HMAC-SHA256)(\s+)(?=[^\s"]*[\d=.])[^\s"\\,;]{8,}/g;
/** `//name:password@host` */
const USERINFO = /(\/\/)[^\s/"'\\@:]+:[^\s/"'\\@]+@/g;
/** Keys and tokens of ours, and what looks like one anywhere. */
const KEYS = /\balk_[\w-]{8,}|\bal[tr]\.[\w.-]{16,}|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g;

/** A line of the log without what would open anything. Short on purpose: it is done with every line. */
export function hideSecrets(line: string): string {
  return line
    .replace(FIELD, `$1"${HIDDEN}"`)
    .replace(QUOTED_FIELD, `$1${HIDDEN}`)
    .replace(PARAMETER, `$1${HIDDEN}`)
    .replace(SCHEME, `$1$2${HIDDEN}`)
    .replace(USERINFO, `$1${HIDDEN}@`)
    .replace(KEYS, HIDDEN);
}
