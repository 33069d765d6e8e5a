import { expect, test } from '@jest/globals';

import { signatureOf } from '../../connectors/oauth/oauth1.js';

// The examples of RFC 5849, section 1.2.
const CLIENT_SECRET = 'kd94hf93k423kf44';

test('signs a token request as in the example of the RFC', () => {
  const parameters = {
    oauth_consumer_key: 'dpf43f3p2l4k3l03',
    oauth_token: 'hh5s93j4hdidpola',
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: '137131201',
    oauth_nonce: 'walatlh',
    oauth_verifier: 'hfdp7dh39dks9884',
  };
  const request = { method: 'POST', url: 'https://photos.example.net/token', parameters };
  expect(signatureOf(request, CLIENT_SECRET, 'hdhd0244k9j7ao03')).toBe('gKgrFCywp7rO0OXSjdot/IHF7IU=');
});

test('includes the query in the signature', () => {
  const parameters = {
    oauth_consumer_key: 'dpf43f3p2l4k3l03',
    oauth_token: 'nnch734d00sl2jdk',
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: '137131202',
    oauth_nonce: 'chapoH',
  };
  const url = 'http://photos.example.net/photos?file=vacation.jpg&size=original';
  expect(signatureOf({ method: 'get', url, parameters }, CLIENT_SECRET, 'pfkkdhi9sl3r4s00')).toBe(
    'MdpQcU8iPSUjWoN/UDMsK2sui9I=',
  );
});

test('encodes characters that URLs leave unescaped, so that different values have different signatures', () => {
  const sign = (value: string) =>
    signatureOf({ method: 'POST', url: 'https://a.example/x', parameters: { a: value } }, 's', 't');
  const signatures = ["!'()*", '%21%27%28%29%2A', 'a b', 'a+b', 'ä', '&a=b', ''].map(sign);
  expect(new Set(signatures).size).toBe(signatures.length);
});
