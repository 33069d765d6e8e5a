/** What a header can carry (RFC 9110, 5.5), bounded. */
const TOKEN = /^[\x21-\x7e]{1,16384}$/;

/** Returns the token, or an invalid one that the source refuses, if the token is no valid header value. */
export const headerToken = (token: string): string => (TOKEN.test(token) ? token : 'none');

export const bearer = ({ accessToken }: { readonly accessToken: string }): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${headerToken(accessToken)}`,
});
