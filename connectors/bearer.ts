/** Characters that a header value can contain (RFC 9110, 5.5), with a maximum length. */
const TOKEN_PATTERN = /^[\x21-\x7e]{1,16384}$/;

/** Returns the token. Returns `none`, which the source refuses, for a token that a header value cannot contain. */
export const headerToken = (token: string): string => (TOKEN_PATTERN.test(token) ? token : 'none');

export const bearer = ({ accessToken }: { readonly accessToken: string }): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${headerToken(accessToken)}`,
});
