/** Common parts of Google's APIs: consent, errors, waits, and validation of answers. */
import type { SharedLimit } from '../connector.js';
import type { OAuthSpec } from '../oauthSpec.js';
import type { Refusal } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';
import { asList, asObject, asText } from '../json.js';

const scope = (name: string): string => `https://www.googleapis.com/auth/${name}`;

/** https://developers.google.com/identity/protocols/oauth2/web-server */
export const googleOAuth = (scopes: readonly string[]): OAuthSpec => ({
  scopes,
  scopeSeparator: ' ',
  scopeParameter: 'scope',
  // https://developers.google.com/identity/protocols/oauth2/scopes
  scopeAliases: {
    email: [scope('userinfo.email')],
    [scope('drive.readonly')]: [scope('drive')],
    [scope('gmail.readonly')]: [scope('gmail.modify'), 'https://mail.google.com/'],
    [scope('devstorage.read_only')]: [
      ...[scope('devstorage.read_write'), scope('devstorage.full_control')],
      ...[scope('cloud-platform'), scope('cloud-platform.read-only')],
    ],
    [scope('cloudplatformprojects.readonly')]: [
      ...[scope('cloudplatformprojects'), scope('cloud-platform'), scope('cloud-platform.read-only')],
    ],
  },
  pkce: true,
  clientAuth: 'post',
  bodyFormat: 'form',
  // Google issues a refresh token only at a consent: a user who consented earlier must be asked again.
  authorizeParameters: { access_type: 'offline', prompt: 'consent' },
  rotates: false,
  revokes: 'form',
});

/** Reasons (`errors[].reason`) whose meaning differs from the status. */
const REASONS: Readonly<Record<string, ErrorClass>> = {
  authError: 'auth_revoked',
  rateLimitExceeded: 'rate_limited',
  userRateLimitExceeded: 'rate_limited',
  quotaExceeded: 'rate_limited',
  dailyLimitExceeded: 'rate_limited',
  downloadQuotaExceeded: 'rate_limited',
  backendError: 'server',
  internalError: 'server',
  exportSizeLimitExceeded: 'not_exportable',
  fileNotDownloadable: 'not_exportable',
  fileNotExportable: 'not_exportable',
  cannotDownloadFile: 'forbidden_item',
  cannotDownloadAbusiveFile: 'not_exportable',
  // Of Gmail: the user has no mailbox ("Mail service not enabled"). https://github.com/onyx-dot-app/onyx/pull/5506
  failedPrecondition: 'forbidden_item',
  // The API is not enabled in the project of our OAuth client.
  accessNotConfigured: 'api_disabled',
  // Of ErrorInfo. https://github.com/googleapis/googleapis/blob/master/google/api/error_reason.proto
  SERVICE_DISABLED: 'api_disabled',
  RATE_LIMIT_EXCEEDED: 'rate_limited',
};
/** Daily quotas reset at midnight in California; an hourly retry is sufficient. */
const DAILY_WAIT_MS = 3_600_000;
/** Wait if Google requests backoff without a duration, which is the usual case. Its quotas are per minute. */
const DEFAULT_WAIT_MS = 10_000;

/**
 * Reasons that, with status 403, concern the project of our OAuth client. With 429, rateLimitExceeded concerns one user.
 * https://developers.google.com/workspace/gmail/api/guides/handle-errors
 */
const OF_PROJECT: ReadonlySet<string> = new Set(['rateLimitExceeded', 'dailyLimitExceeded']);

/** The limits of a project; each API has its own. */
export const projectLimit: SharedLimit = {
  requestsAtOnce: 64,
  appliesTo: (refusal) => refusal.status === 403 && OF_PROJECT.has(reasonOf(refusal)),
};

interface ErrorEntry {
  readonly reason?: unknown;
  readonly location?: unknown;
}
interface ErrorJson {
  readonly message?: unknown;
  readonly errors?: unknown;
  readonly details?: unknown;
}

/** Type of the detail with the reason, which newer APIs send in place of `errors`. https://google.aip.dev/193 */
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';

const errorOf = ({ body }: Refusal): ErrorJson => asObject(asObject(body)['error']);
const entriesOf = (refusal: Refusal): readonly ErrorEntry[] => asList(errorOf(refusal).errors).map(asObject);

/** Returns the reason of an error; '' without one. */
export const reasonOf = (refusal: Refusal): string => {
  const info = asList(errorOf(refusal).details)
    .map(asObject)
    .find((detail) => detail['@type'] === ERROR_INFO);
  return asText(entriesOf(refusal)[0]?.reason) ?? asText(info?.['reason']) ?? '';
};

/** Whether a refusal is an expired cursor of a listing or feed. */
const isExpiredCursor = (refusal: Refusal): boolean =>
  refusal.status === 410 ||
  (refusal.status === 400 &&
    entriesOf(refusal).some(({ location }) => location === 'pageToken' || location === 'startHistoryId'));

export function classify(refusal: Refusal): ErrorClass | null {
  if (isExpiredCursor(refusal)) return 'cursor_invalid';
  const reason = reasonOf(refusal);
  return Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? null) : null;
}

/**
 * Returns the wait of a rate limit in milliseconds; null if Retry-After states it. Gmail writes the end of the wait
 * into the error text; the other APIs usually state no duration.
 */
export function waitMs(refusal: Refusal, now: number): number | null {
  if (refusal.headers['retry-after'] !== undefined) return null;
  const retryAt = /retry after (\d{4}-\d\d-\d\dT[\d:.]+Z)/i.exec(asText(errorOf(refusal).message) ?? '')?.[1];
  if (retryAt !== undefined) return Math.max(0, Date.parse(retryAt) - now);
  return reasonOf(refusal) === 'dailyLimitExceeded' ? DAILY_WAIT_MS : DEFAULT_WAIT_MS;
}
