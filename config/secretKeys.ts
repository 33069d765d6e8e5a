import { ConfigError } from './configError.js';
import type { SecretKey } from './types.js';

/** Parses the keys in SECRET_KEY. @throws ConfigError */
export function readSecretKeys(value: string): SecretKey[] {
  const keys = value.split(',').map((part) => {
    const [id, encoded, ...more] = part.trim().split(':');
    const key = Buffer.from(encoded ?? '', 'base64');
    if (!id || key.length !== 32 || more.length > 0) {
      throw new ConfigError(
        'SECRET_KEY: each key is `id:base64 of 32 bytes`; generate one with: openssl rand -base64 32',
      );
    }
    return { id, key };
  });
  // A secret is stored with the id of its key, so a second key of the same id would replace the first.
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    throw new ConfigError('SECRET_KEY: two keys have the same id; give the new key an id of its own');
  return keys;
}
