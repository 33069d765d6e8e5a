/** Validation rules of settings. */
import Joi from 'joi';

import { OCR_LANGUAGE_CODES } from '../../contract/files/ocrLanguages.js';
import { ON_DISK_PARTS } from '../../store/vectors/layout.js';

export interface Setting {
  readonly schema: Joi.Schema;
  /** Description for docs/settings.md. */
  readonly about: string;
}

export const text = () => Joi.string().allow('');
export const count = (fallback: number, min = 1) => Joi.number().integer().min(min).default(fallback);

function isProxyAddress(address: string): boolean {
  try {
    const { protocol, username, password } = new URL(address);
    // decodeURIComponent throws if the text is not escaped as in a URL: a percent sign in a password must be %25.
    decodeURIComponent(username + password);
    return protocol === 'http:';
  } catch {
    return false;
  }
}

/** Validates proxy addresses. The message omits the value, which contains credentials. */
export function proxyAddresses(value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport {
  const addresses = value.split(',').map((part) => part.trim());
  return addresses.every((address) => address === '' || isProxyAddress(address))
    ? value
    : helpers.message({
        custom: '{{#label}} must be a list of addresses like http://user:password@host:port, separated by commas',
      });
}

/** Address of a provider. */
export const address = () => Joi.string().uri({ scheme: ['http', 'https'] });

/** Validates a setting with a parser that throws the reason why a value is invalid. */
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

/** Returns a validator of a list of known values, separated by commas. */
export const listOf =
  (known: readonly string[]) =>
  (value: string, helpers: Joi.CustomHelpers): string | Joi.ErrorReport => {
    const unknown = value.split(',').find((part) => part.trim() !== '' && !known.includes(part.trim()));
    if (unknown === undefined) return value;
    return helpers.message({
      custom: `{{#label}} accepts ${known.join(', ')}, separated by commas, but not "${unknown.trim()}"`,
    });
  };

/** Validates QDRANT_ON_DISK. */
export const onDiskParts = listOf(ON_DISK_PARTS);

/** Validates OCR_LANGUAGES. */
export const ocrLanguages = listOf(OCR_LANGUAGE_CODES);
