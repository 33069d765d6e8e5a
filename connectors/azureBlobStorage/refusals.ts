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
  ContainerBeingDeleted: 'not_found',
  InvalidResourceName: 'not_found',
  InvalidUri: 'not_found',
  OutOfRangeInput: 'not_found',
  ServerBusy: 'rate_limited',
  OperationTimedOut: 'server',
};

/** Classifies a refusal by the error code in its header. */
export const classify = ({ headers }: Refusal): ErrorClass | null => CODES[headers['x-ms-error-code'] ?? ''] ?? null;
