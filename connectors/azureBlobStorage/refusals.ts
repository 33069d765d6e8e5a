import type { Refusal } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';

/** Error codes of the storage services whose meaning differs from their status. */
const CODES: Readonly<Record<string, ErrorClass>> = {
  AuthenticationFailed: 'auth_revoked',
  InvalidAuthenticationInfo: 'auth_revoked',
  KeyBasedAuthenticationNotPermitted: 'auth_revoked',
  AccountIsDisabled: 'auth_revoked',
  BlobArchived: 'not_exportable',
  BlobBeingRehydrated: 'not_exportable',
  // Only its owner has the key.
  BlobUsesCustomerSpecifiedEncryption: 'not_exportable',
  ContainerBeingDeleted: 'not_found',
  InvalidResourceName: 'not_found',
  InvalidUri: 'not_found',
  OutOfRangeInput: 'not_found',
  ServerBusy: 'rate_limited',
  OperationTimedOut: 'server',
};

/** The signature was refused because of its time: our clock differs, or the request took minutes to arrive. */
const DATE_TOO_OLD = /<AuthenticationErrorDetail>Request date header too old/;

/** Classifies a refusal by the error code in its header. */
export function classify({ headers, body }: Refusal): ErrorClass | null {
  const code = headers['x-ms-error-code'] ?? '';
  if (code === 'AuthenticationFailed' && typeof body === 'string' && DATE_TOO_OLD.test(body)) return 'server';
  return CODES[code] ?? null;
}
