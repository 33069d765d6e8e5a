import { FACT_FIELDS } from '../../../contract/oauth.js';
import type { OAuthSource } from '../../../contract/whiteLabel.js';
import { HttpError, invalid } from '../../http/errors.js';

/**
 * Whose account, or whose server, is meant, out of the fields that the service takes notice of.
 * @throws HttpError 422 for what could lead elsewhere, 400 naming a field without which there is no address
 */
export function factsOf(service: OAuthSource, body: Readonly<Record<string, unknown>>): Record<string, string> {
  const facts: Record<string, string> = {};
  for (const { field, fact, pattern, takes, isNeeded, fallback } of FACT_FIELDS[service] ?? []) {
    const given = body[field];
    if (typeof given === 'string' && given !== '') {
      if (!pattern.test(given)) throw invalid(['body', field], `Takes ${takes}, and nothing else`, 'value_error');
      facts[fact] = given;
    } else if (isNeeded)
      throw new HttpError(400, `Name ${field}: ${takes}. Without it there is no address to consent at.`);
    else if (fallback !== undefined) facts[fact] = fallback;
  }
  return facts;
}
