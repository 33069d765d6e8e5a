/** What settings are checked by. */
import Joi from 'joi';

import { ON_DISK_PARTS } from '../../store/vectors/layout.js';

export interface Setting {
  readonly schema: Joi.Schema;
  /** What it does, for docs/settings.md. */
  readonly about: string;
}

export const text = () => Joi.string().allow('');
export const count = (fallback: number, min = 1) => Joi.number().integer().min(min).default(fallback);

function isProxyAddress(address: string): boolean {
  try {
    const { protocol, username, password } = new URL(address);
    // Throws too where they are not escaped as a URL has them: a percent sign of a password must be %25.
    decodeURIComponent(username + password);
    return protocol === 'http:';
  } catch {
    return false;
  }
}

/** Says nothing of the value, which holds credentials. */
export function proxyAddresses(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const addresses = value.split(',').map((part) => part.trim());
  return addresses.every((address) => address === '' || isProxyAddress(address))
    ? value
    : helpers.message({ custom: '{{#label}} takes addresses like http://user:password@host:port, by comma' });
}

/** Of a provider. */
export const address = () => Joi.string().uri({ scheme: ['http', 'https'] });

/** What a reader of ours takes: it throws what is wrong. */
export const readBy =
  (read: (value: string) => unknown) =>
  (value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport => {
    try {
      read(value);
      return value;
    } catch (error) {
      return helpers.message({ custom: `{{#label}} ${(error as Error).message}` });
    }
  };

export function onDiskParts(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const known: readonly string[] = ON_DISK_PARTS;
  const unknown = value.split(',').find((part) => part.trim() !== '' && !known.includes(part.trim()));
  if (unknown === undefined) return value;
  return helpers.message({ custom: `{{#label}} takes ${known.join(', ')}, by comma, and no "${unknown.trim()}"` });
}
