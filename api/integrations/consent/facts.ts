import { FACT_FIELDS, type FactField } from '../../../contract/oauth.js';
import type { OAuthSource } from '../../../contract/whiteLabel.js';
import { HttpError, invalid } from '../../http/errors.js';

/**
 * Whose account, or whose server, is meant, out of the fields that the service takes notice of.
 * @throws HttpError 422 for what could lead elsewhere, 400 naming a field without which there is no address
 */
export const factsOf = (service: OAuthSource, body: Readonly<Record<string, unknown>>): Record<string, string> =>
  factsIn(FACT_FIELDS[service] ?? [], body, []);

/** The same of fields that lie somewhere in the body. @param within where, by names */
export function factsIn(
  fields: readonly FactField[],
  given: Readonly<Record<string, unknown>>,
  within: readonly string[],
): Record<string, string> {
  const facts: Record<string, string> = {};
  for (const { field, fact, pattern, takes, isNeeded, fallback } of fields) {
    const value = given[field];
    if (typeof value === 'string' && value !== '') {
      if (!pattern.test(value))
        throw invalid(['body', ...within, field], `Takes ${takes}, and nothing else`, 'value_error');
      facts[fact] = value;
    } else if (isNeeded)
      throw new HttpError(
        400,
        `Name ${[...within, field].join('.')}: ${takes}. Without it there is no address to consent at.`,
      );
    else if (fallback !== undefined) facts[fact] = fallback;
  }
  return facts;
}
