import type { OAuthSpec } from '../oauthSpec.js';

/** The granted scopes, and those that the source needs. */
export interface GrantedScopes {
  readonly wanted: readonly string[];
  /** Null: the provider does not say. */
  readonly granted: readonly string[] | null;
  readonly missing: readonly string[];
}

/** Providers write names in other cases, and some with the address of the interface before them. */
const isNamed = (wanted: string, said: string): boolean => {
  const [name, given] = [wanted.toLowerCase(), said.toLowerCase()];
  return given === name || given.endsWith(`/${name}`);
};

/** Compares what was granted with what its source is to be read with. Scopes that no answer names are not missed. */
export function compareScopes(
  { scopes, scopeAliases = {} }: Pick<OAuthSpec, 'scopes' | 'scopeAliases'>,
  granted: readonly string[] | null,
): GrantedScopes {
  const isGranted = (wanted: string): boolean => {
    const others = scopeAliases[wanted];
    if (others?.length === 0) return true;
    return [wanted, ...(others ?? [])].some((name) => granted?.some((said) => isNamed(name, said)));
  };
  return { wanted: scopes, granted, missing: granted === null ? [] : scopes.filter((one) => !isGranted(one)) };
}
