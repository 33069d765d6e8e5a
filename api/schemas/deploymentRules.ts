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

const parseUrl = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);
const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:';

/**
 * Rejects http(s) URLs whose port or IP literal may not be called, in every spelling that URL parsers accept. Texts
 * that are not http(s) URLs pass, because the operation checks them. A host name is checked when it is resolved for the
 * connection.
 */
export function callable(text: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const url = parseUrl(withScheme(text));
  if (url === null || !isHttp(url) || rulesOf(helpers).mayCall(url)) return text;
  return helpers.message({ custom: 'This service may not call this address' });
}

/**
 * Accepts redirect URIs without a fragment that are http(s) URLs without credentials, or whose scheme the operator
 * allows. Browsers could execute others as a script, open them as a local file, or resolve them as relative addresses.
 */
export function redirectUri(text: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const url = parseUrl(text);
  const scheme = url?.protocol.slice(0, -1) ?? '';
  const isWeb = url !== null && isHttp(url) && url.username + url.password === '';
  // The parser reports an empty fragment (`…#`) as none, but OAuth forbids it too.
  const hasFragment = text.includes('#');
  if (url !== null && !hasFragment && (isWeb || rulesOf(helpers).redirectUriSchemes.includes(scheme))) return text;
  return helpers.message({
    custom:
      'Give an address without #: http(s) without credentials, or with a scheme in the setting REDIRECT_URI_SCHEMES',
  });
}
