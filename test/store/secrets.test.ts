import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';

import { createSecrets } from '../../store/secrets/secrets.js';

const place = { organizationId: 7, record: 'white_label:3', field: 'client_secret' };
const key = (id: string) => ({ id, key: randomBytes(32) });

test('a secret is decrypted with its own context, and each encryption gives a different ciphertext', () => {
  const secrets = createSecrets([key('a')]);
  const sealed = secrets.seal(place, 'sësame');
  expect(secrets.open(place, sealed)).toBe('sësame');
  expect(JSON.stringify(sealed)).not.toContain('same');
  expect(secrets.seal(place, 'sësame')).not.toEqual(sealed);
  expect(sealed.keyId).toBe('a');
});

test('a ciphertext moved to another organization, record or field cannot be decrypted', () => {
  const secrets = createSecrets([key('a')]);
  const sealed = secrets.seal(place, 'sesame');
  for (const elsewhere of [
    { ...place, organizationId: 8 },
    { ...place, record: 'white_label:4' },
    { ...place, field: 'api_key' },
  ])
    expect(() => secrets.open(elsewhere, sealed)).toThrow();
});

test('an altered ciphertext cannot be decrypted', () => {
  const secrets = createSecrets([key('a')]);
  const sealed = secrets.seal(place, 'sesame');
  const bytes = Buffer.from(sealed.ciphertext, 'base64');
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  expect(() => secrets.open(place, { ...sealed, ciphertext: bytes.toString('base64') })).toThrow();
});

test('with several keys, the first encrypts, all decrypt, and the error names a missing key', () => {
  const [old, fresh] = [key('old'), key('fresh')];
  const sealed = createSecrets([old]).seal(place, 'sesame');
  const rotated = createSecrets([fresh, old]);
  expect(rotated.open(place, sealed)).toBe('sesame');
  expect(rotated.seal(place, 'sesame').keyId).toBe('fresh');
  expect(() => createSecrets([fresh]).open(place, sealed)).toThrow(/key old.*SECRET_KEY/);
});
