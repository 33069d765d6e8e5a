/** Characters that a header value can contain (RFC 9110, 5.5), with a maximum length. */
const TOKEN_PATTERN = /^[\x21-\x7e]{1,16384}$/;

/** Returns the token; if it is not a valid header value, an invalid one that the source refuses. */
export const headerToken = (token: string): string => (TOKEN_PATTERN.test(token) ? token : 'none');

export const bearer = ({ accessToken }: { readonly accessToken: string }): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${headerToken(accessToken)}`,
});
