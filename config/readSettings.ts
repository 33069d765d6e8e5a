import Joi from 'joi';

import { configErrorOf } from './configError.js';
import { SETTINGS } from './settings.js';

export type SettingName = keyof typeof SETTINGS;

/** Two settings of which none may be set alone. */
const PAIR = ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const satisfies readonly SettingName[];

/** Reads validated settings by their names. A setting has the type of its schema. */
export interface Settings {
  string(name: SettingName): string;
  number(name: SettingName): number;
  flag(name: SettingName): boolean;
  /** Returns the comma-separated parts of a setting, without empty ones. */
  list(name: SettingName): string[];
  /** Returns an address without trailing slashes. */
  address(name: SettingName): string;
  /** Returns the value of a setting; null if it is not set and has no default. */
  optional(name: SettingName): string | null;
  optionalNumber(name: SettingName): number | null;
  optionalAddress(name: SettingName): string | null;
}

const partsOf = (value: string): string[] =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

const withoutSlashes = (address: string): string => address.replace(/\/+$/, '');

/**
 * Validates the settings of an environment. Empty ones count as not set. @throws ConfigError that names every invalid
 * setting
 */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const schema = Joi.object(
    Object.fromEntries(Object.entries(SETTINGS).map(([name, setting]) => [name, setting.schema])),
  )
    .and(...PAIR)
    .messages({ 'object.and': `Set both ${PAIR.join(' and ')}, or none` });
  const present = Object.fromEntries(Object.entries(env).filter(([name, value]) => name in SETTINGS && value !== ''));
  const { value, error } = schema.validate(present, { abortEarly: false, convert: true });
  if (error) throw configErrorOf(error.details.map((detail) => detail.message));
  const values = value as Readonly<Record<SettingName, unknown>>;
  // The schemas have validated these types.
  const string = (name: SettingName) => values[name] as string;
  const optional = (name: SettingName) => (values[name] as string | undefined) ?? null;
  return {
    string,
    number: (name) => values[name] as number,
    flag: (name) => values[name] as boolean,
    list: (name) => partsOf(string(name)),
    address: (name) => withoutSlashes(string(name)),
    optional,
    optionalNumber: (name) => (values[name] as number | undefined) ?? null,
    optionalAddress(name) {
      const settingText = optional(name);
      return settingText && withoutSlashes(settingText);
    },
  };
}
