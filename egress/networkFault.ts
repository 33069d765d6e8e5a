import { Fault } from '../contract/failures.js';
import { seconds } from './deadline.js';
import type { EgressSettings } from './types.js';

/** Converts the error of a failed connection, request or body to a Fault with a message. Returns a Fault unchanged. */
export function networkFault(error: unknown, host: string, settings: EgressSettings): Fault {
  if (error instanceof Fault) return error;
  const code = codeOf(error);
  const limit = TIMEOUTS[code];
  if (limit !== undefined) {
    return new Fault(
      'timed_out',
      `${host} ${limit.sentence} within ${seconds(settings[limit.setting])}. Try again later.`,
      { cause: error },
    );
  }
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return new Fault(
      'bad_response',
      `${host} sent more header lines than can be read. Its operator must send fewer or shorter ones.`,
      { cause: error },
    );
  }
  if (/^(Z_|ERR__ERROR|ERR_BROTLI)/.test(code)) {
    return new Fault(
      'broken_content',
      `The compressed answer of ${host} is damaged and can't be unpacked. Its operator must repair the server's compression.`,
      { cause: error },
    );
  }
  if (isCertificateFault(code)) {
    return new Fault(
      'unreachable',
      `The certificate of ${host} can't be trusted (${code}). Its operator must install a valid one; a private certificate authority can be added with NODE_EXTRA_CA_CERTS.`,
      { cause: error },
    );
  }
  const detail = code === '' ? '' : ` (${code})`;
  return new Fault(
    'unreachable',
    `The connection to ${host} failed or broke${detail}. Check that the site is up, or try again later.`,
    { cause: error },
  );
}

const TIMEOUTS: Readonly<
  Record<string, { sentence: string; setting: 'connectTimeoutMs' | 'headersTimeoutMs' | 'bodyTimeoutMs' }>
> = {
  UND_ERR_CONNECT_TIMEOUT: { sentence: 'did not accept a connection', setting: 'connectTimeoutMs' },
  ETIMEDOUT: { sentence: 'did not accept a connection', setting: 'connectTimeoutMs' },
  UND_ERR_HEADERS_TIMEOUT: { sentence: 'did not begin to answer', setting: 'headersTimeoutMs' },
  UND_ERR_BODY_TIMEOUT: {
    sentence: 'sent no further part of its response',
    setting: 'bodyTimeoutMs',
  },
};

function isCertificateFault(code: string): boolean {
  return code.startsWith('CERT_') || code.startsWith('ERR_TLS_CERT') || /SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/.test(code);
}

/** Returns the error code of Node or undici; '' when there is none. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return '';
  // When every address of a name failed, Node throws an AggregateError; use the first error.
  const source = error instanceof AggregateError && !('code' in error) ? (error.errors[0] as unknown) : error;
  const code = typeof source === 'object' && source !== null && 'code' in source ? source.code : '';
  return typeof code === 'string' ? code : '';
}
