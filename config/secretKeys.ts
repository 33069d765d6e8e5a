import { ConfigError } from './configError.js';
import type { SecretKey } from './types.js';

/** Parses the keys in SECRET_KEY. @throws ConfigError */
export function readSecretKeys(value: string): SecretKey[] {
  try {
    return parseSecretKeys(value);
  } catch (error) {
    throw new ConfigError(`SECRET_KEY ${(error as Error).message}`);
  }
}

/** Parses the keys in SECRET_KEY. @throws Error with the reason why the value is invalid, without the setting's name */
export function parseSecretKeys(value: string): SecretKey[] {
  const keys = value.split(',').map((part) => {
    const [id, encoded, ...more] = part.trim().split(':');
    const key = Buffer.from(encoded ?? '', 'base64');
    if (!id || key.length !== 32 || more.length > 0)
      throw new Error(
        'accepts keys `id:base64 of 32 bytes`, separated by commas; generate one with: openssl rand -base64 32',
      );
    return { id, key };
  });
  // A secret is stored with the id of its key, so a second key of the same id would replace the first.
  if (new Set(keys.map(({ id }) => id)).size < keys.length)
    throw new Error('has two keys with the same id; give the new key an id of its own');
  return keys;
}
