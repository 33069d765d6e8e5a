import { CONNECTION_FIELDS, type ConnectionField } from '../../../contract/accounts/oauth.js';
import type { OAuthSource } from '../../../contract/accounts/whiteLabel.js';
import { HttpError, invalid } from '../../http/errors.js';

/**
 * Returns the fields that name the account or server, for a service that uses them.
 * @throws HttpError 422 for values that could change the host or path of the consent URL, 400 if a field that this URL
 * requires is missing
 */
export const connectionFieldsOf = (
  service: OAuthSource,
  body: Readonly<Record<string, unknown>>,
): Record<string, string> => readConnectionFields(CONNECTION_FIELDS[service] ?? [], body, []);

/**
 * Reads the fields that name the account or server from the body, or from an object in it.
 * @param within path of that object; [] for the body itself
 * @throws HttpError as connectionFieldsOf does
 */
export function readConnectionFields(
  fields: readonly ConnectionField[],
  values: Readonly<Record<string, unknown>>,
  within: readonly string[],
): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const { field, parameter, pattern, accepts, isRequired, fallback } of fields) {
    const value = values[field];
    if (typeof value === 'string' && value !== '') {
      if (!pattern.test(value)) throw invalid(['body', ...within, field], `Must be ${accepts}`, 'value_error');
      parameters[parameter] = value;
    } else if (isRequired)
      throw new HttpError(400, `Send ${[...within, field].join('.')}: ${accepts}. The consent URL requires it.`);
    else if (fallback !== undefined) parameters[parameter] = fallback;
  }
  return parameters;
}
