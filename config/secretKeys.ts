import { ConfigError } from './configError.js';
import type { SecretKey } from './types.js';

/** Parses the keys in SECRET_KEY. @throws ConfigError */
export function readSecretKeys(value: string): SecretKey[] {
  return value.split(',').map((part) => {
    const [id, encoded] = part.trim().split(':');
    const key = Buffer.from(encoded ?? '', 'base64');
    if (!id || key.length !== 32) {
      throw new ConfigError(
        'SECRET_KEY: each key is `id:base64 of 32 bytes`; generate one with: openssl rand -base64 32',
      );
    }
    return { id, key };
  });
}
