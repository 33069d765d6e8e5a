import type Joi from 'joi';

import { withScheme } from '../../contract/urls.js';

/** Settings of the deployment for validation; passed to Joi as its context. */
export interface DeploymentRules {
  /** Returns whether the port of a URL may be called and, if the host is an IP literal, the host. Resolves no names. */
  readonly mayCall: (url: URL) => boolean;
  /** Allowed schemes of redirect URIs besides http and https, in lower case and without the colon. */
  readonly redirectUriSchemes: readonly string[];
}

const rulesOf = ({ prefs }: Joi.CustomHelpers): DeploymentRules => {
  const rules = prefs.context as DeploymentRules | undefined;
  if (!rules) throw new Error('This schema needs the deployment rules as the context of its validation');
  return rules;
};

const parsed = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);
const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:';

/**
 * Rejects URLs whose port or IP literal may not be called, in every spelling that URL parsers accept. Texts that are
 * not http(s) URLs are checked by the operation, and host names when the connection resolves them.
 */
export function callable(text: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const url = parsed(withScheme(text));
  if (url === null || !isHttp(url) || rulesOf(helpers).mayCall(url)) return text;
  return helpers.message({ custom: 'The address is not one that this service may call' });
}

/**
 * Rejects redirect URIs that a browser would execute as a script, open as a local file, or resolve as relative
 * addresses.
 */
export function redirectUri(text: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const url = parsed(text);
  const scheme = url?.protocol.slice(0, -1) ?? '';
  const isWeb = url !== null && isHttp(url) && url.username + url.password === '';
  if (url !== null && url.hash === '' && (isWeb || rulesOf(helpers).redirectUriSchemes.includes(scheme))) return text;
  return helpers.message({
    custom:
      'Give an http(s) address without credentials and without #, or one whose scheme the operator listed in the setting REDIRECT_URI_SCHEMES',
  });
}
