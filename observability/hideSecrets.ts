/** Replacement for a secret. */
export const HIDDEN = '[hidden]';

/** Names of JSON fields and query parameters with secret values. */
const SECRET_NAMES = [
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
  '(?:access|refresh|id|session|security|bearer|bot|user|request|api)[-_]?token',
  '(?:access|request)[-_]?token[-_]?secret',
  'account[-_]?key',
  'oauth[-_]?token(?:[-_]?secret)?',
  'x-amz-security-token',
  'code[-_]?verifier',
  'premium[-_]?prox(?:y|ies)(?:[-_]?urls)?',
].join('|');
/** Query parameters of signed URLs and of OAuth callbacks. */
const SIGNED_URL_PARAMETERS = [
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
/** Returns the pattern of a list or object of plain values. */
const flat = (text: string): string => `\\[(?:[^[\\]{}"\\\\]|${text})*\\]|\\{(?:[^[\\]{}"\\\\]|${text})*\\}`;
/** `"name":"value"`. The value may also be a list or an object, with at most one level of lists and objects inside. */
const FIELD = new RegExp(`("(?:${SECRET_NAMES})"\\s*:\\s*)(?:${STRING}|${flat(`${STRING}|${flat(STRING)}`)})`, 'gi');
/** A string in JSON that is escaped inside a JSON string. Each of its own escapes has two backslashes. */
const QUOTED = '\\\\"(?:[^"\\\\]|\\\\\\\\(?:\\\\\\\\|\\\\"|[^"\\\\]))*\\\\"';
/** Like FIELD, but without lists and objects inside, in JSON that is escaped inside a JSON string. */
const QUOTED_FIELD = new RegExp(`(\\\\"(?:${SECRET_NAMES})\\\\"\\s*:\\s*)(?:${QUOTED}|${flat(QUOTED)})`, 'gi');
/** Like FIELD for a string, in JSON that is escaped several times. Matches only up to the first escape in the value. */
const DEEP_FIELD = new RegExp(`((\\\\{3,})"(?:${SECRET_NAMES})\\2"\\s*:\\s*\\2")[^"\\\\]*`, 'gi');
/** `name=value` in a query, a fragment or a form. */
const PARAMETER = new RegExp(`([?&#;](?:${SECRET_NAMES}|${SIGNED_URL_PARAMETERS})=)[^&\\s"'\\\\<>#]+`, 'gi');
/** The same in a URL that is a URL-encoded parameter of another URL. */
const ENCODED_PARAMETER = new RegExp(
  `(%(?:3F|26|23)(?:${SECRET_NAMES}|${SIGNED_URL_PARAMETERS})%3D)(?:(?!%26)[^&\\s"'\\\\<>#])+`,
  'gi',
);
/**
 * Returns two patterns that match at the start of a word, and after an escaped line break or tab (in JSON a backslash
 * and a letter). Two patterns are several times as fast as one combined pattern.
 */
const atStart = (pattern: string, flags: string): readonly RegExp[] => [
  new RegExp(`()\\b${pattern}`, flags),
  new RegExp(`(\\\\[nrt])${pattern}`, flags),
];
/** The first `name=value` of a form. */
const FIRST_PARAMETER = atStart(`((?:${SECRET_NAMES})=)[^&\\s"'\\\\<>#]+`, 'gi');
/** `name="value"`, as in the header of OAuth 1.0a. Log lines are JSON, so its quotes are escaped. */
const QUOTED_PARAMETER = new RegExp(
  `((?:${SECRET_NAMES}|${SIGNED_URL_PARAMETERS}|oauth_signature)=\\\\(?:\\\\\\\\)*")[^"\\\\]*`,
  'gi',
);
/** A line of headers. */
const HEADER = atStart('((?:(?:proxy-)?authorization|(?:set-)?cookie|(?:x-)?api-key):\\s)(?!\\s)[^"\\\\\r\n]+', 'gi');
/** Credentials after the name of an authorization scheme. */
const SCHEME = atStart(
  '((?:[Bb]earer|Basic|Token|OAuth|AWS4-HMAC-SHA256)\\s+)(?=[^\\s"]*[\\d=.])[^\\s"\\\\,;]{8,}',
  'g',
);
/** `//name:password@host` */
const USERINFO = /(\/\/)[^\s/"'\\@:]*:[^\s/"'\\@]+@/g;
/** Keys and tokens of this service, and JSON Web Tokens of any issuer. */
const KEYS = atStart('(?:alk_[\\w-]{8,}|al[tr]\\.[\\w.-]{16,}|eyJ[\\w-]{8,}\\.[\\w-]{8,}\\.[\\w-]*)', 'g');

/** Replaces the secrets in a log line. It runs for every line, so it must be fast. */
export function hideSecrets(line: string): string {
  let hidden = line.replace(FIELD, `$1"${HIDDEN}"`);
  const replace = (patterns: readonly RegExp[], replacement: string): void => {
    for (const pattern of patterns) hidden = hidden.replace(pattern, replacement);
  };
  if (hidden.includes('\\"')) {
    replace([QUOTED_FIELD], `$1\\"${HIDDEN}\\"`);
    replace([DEEP_FIELD, QUOTED_PARAMETER], `$1${HIDDEN}`);
  }
  if (hidden.includes('=')) {
    replace([PARAMETER], `$1${HIDDEN}`);
    replace(FIRST_PARAMETER, `$1$2${HIDDEN}`);
  }
  if (hidden.includes('%')) replace([ENCODED_PARAMETER], `$1${HIDDEN}`);
  if (hidden.includes(': ')) replace(HEADER, `$1$2${HIDDEN}`);
  replace(SCHEME, `$1$2${HIDDEN}`);
  replace([USERINFO], `$1${HIDDEN}@`);
  replace(KEYS, `$1${HIDDEN}`);
  return hidden;
}
