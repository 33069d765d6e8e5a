import type { OAuthSpec } from '../oauthSpec.js';

/** The scopes that a connector requires, and those that the user granted. */
export interface GrantedScopes {
  readonly wanted: readonly string[];
  /** Null if the provider does not report them. */
  readonly granted: readonly string[] | null;
  readonly missing: readonly string[];
}

/**
 * Whether two scope names mean the same scope. Some providers change the case, or add the URL of the API as a prefix.
 */
const isNamed = (wanted: string, granted: string): boolean => {
  const [name, grantedName] = [wanted.toLowerCase(), granted.toLowerCase()];
  return grantedName === name || grantedName.endsWith(`/${name}`);
};

/**
 * Compares the granted scopes with the required ones. Scopes that the provider never reports do not count as missing.
 */
export function compareScopes(
  { scopes, scopeAliases = {} }: Pick<OAuthSpec, 'scopes' | 'scopeAliases'>,
  granted: readonly string[] | null,
): GrantedScopes {
  const isGranted = (wanted: string): boolean => {
    const aliases = scopeAliases[wanted];
    if (aliases?.length === 0) return true;
    return [wanted, ...(aliases ?? [])].some((name) => granted?.some((grantedScope) => isNamed(name, grantedScope)));
  };
  return { wanted: scopes, granted, missing: granted === null ? [] : scopes.filter((scope) => !isGranted(scope)) };
}
