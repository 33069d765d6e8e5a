import { describe, expect, test } from '@jest/globals';

import { readRedirectUriSchemes, readTrustProxy } from '../../contract/httpSettings.js';

describe('TRUST_PROXY', () => {
  test.each<readonly [string, number | readonly string[]]>([
    ['', []],
    ['0', 0],
    ['2', 2],
    ['10.0.0.1', ['10.0.0.1']],
    ['10.0.0.0/8, loopback,fd00::/8', ['10.0.0.0/8', 'loopback', 'fd00::/8']],
  ])('accepts "%s"', (value, expected) => {
    expect(readTrustProxy(value)).toEqual(expected);
  });

  test.each([
    'true',
    '*',
    'proxy.example',
    '10.0.0.0/33',
    '::1/129',
    '0.0.0.0/0',
    '::/0',
    '010.0.0.1',
    '10.0.0.0/8/8',
    '11',
    '-1',
    '1,2',
  ])('refuses "%s"', (value) => {
    expect(() => readTrustProxy(value)).toThrow('accepts');
  });
});

describe('REDIRECT_URI_SCHEMES', () => {
  test('accepts app schemes in upper or lower case, and returns them in lower case', () => {
    expect(readRedirectUriSchemes(' com.Example.App, my-app')).toEqual(['com.example.app', 'my-app']);
  });

  test.each(['javascript', 'DATA', 'file', '*', 'a:', '1app', 'my app'])('refuses "%s"', (value) => {
    expect(() => readRedirectUriSchemes(value)).toThrow('accepts app schemes');
  });
});
