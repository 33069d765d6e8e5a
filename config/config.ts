/**
 * Reads and validates every setting once at start. No other module of the service reads settings from process.env.
 * `npm run docs:settings` writes `docs/settings.md` from SETTINGS; a test checks that the page is current.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { ConfigError, configErrorOf } from './configError.js';
import { readEmbeddedEngines } from './embeddedEngines.js';
import { httpUrl } from './httpUrl.js';
import { readSettings, type SettingName } from './readSettings.js';
import { readSecretKeys } from './secretKeys.js';
import { documentSection } from './sections/documents.js';
import { embeddingSection, serviceSection } from './sections/providers.js';
import { observabilitySection, requestSection } from './sections/requests.js';
import { egressSection, sourceSection } from './sections/sources.js';
import { storeSection } from './sections/stores.js';
import { workSection } from './sections/work.js';
import type { Config } from './types.js';

/**
 * Reads and validates every setting. URLs that are not set default to the embedded engines of the same DATA_DIR, so
 * `npm run worker` needs no settings while `npm start` runs.
 * @throws ConfigError that names every setting whose value does not match its schema; if all match, the first error
 * that a later check finds
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const settings = readSettings(env);
  const dataDir = path.resolve(settings.string('DATA_DIR'));
  const embedded = readEmbeddedEngines(dataDir);
  const egress = egressSection(settings);
  const [host, port] = [settings.string('HOST'), settings.number('PORT')];
  return {
    port,
    host,
    publicUrl: settings.optionalAddress('PUBLIC_URL') ?? (port === 0 ? null : httpUrl(host, port)),
    dataDir,
    logLevel: settings.string('LOG_LEVEL'),
    apiKey: settings.optional('API_KEY') ?? storedKey(dataDir, 'api-key'),
    secretKeys: readSecretKeys(
      settings.optional('SECRET_KEY') ??
        storedKey(dataDir, 'secret-key') ??
        missing('SECRET_KEY', 'its format is `id:key`; openssl rand -base64 32 generates the key'),
    ),
    ...storeSection(settings, dataDir, embedded),
    egress,
    ...sourceSection(settings),
    documents: documentSection(settings, dataDir, env),
    embedding: embeddingSection(settings, egress, embedded),
    ...serviceSection(settings, egress),
    ...workSection(settings),
    ...observabilitySection(settings),
    ...requestSection(settings),
  };
}

/** Returns a key that an earlier `npm start` generated and stored in the data folder; null if there is none. */
function storedKey(dataDir: string, name: string): string | null {
  const file = path.join(dataDir, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}

function missing(name: SettingName, hint: string): never {
  throw configErrorOf([`${name} is not set (${hint}; or use npm start, which generates one)`]);
}

/** Returns the environment of this process, for the command line; its tests pass their own. */
export const environment = (): NodeJS.ProcessEnv => process.env;

/** Placeholder for processes that neither encrypt nor sign. */
const NO_SECRETS = `none:${Buffer.alloc(32).toString('base64')}`;

/** Returns what a client of the API needs. It may run on another machine and needs no SECRET_KEY. */
export function apiSettings(env: NodeJS.ProcessEnv = process.env): {
  /** Null if the port is not known before the API listens. */
  readonly url: string | null;
  readonly apiKey: string | null;
} {
  const { publicUrl, apiKey } = loadConfig({ ...env, SECRET_KEY: env['SECRET_KEY'] || NO_SECRETS });
  return { url: publicUrl, apiKey };
}

/** Returns the settings of OCR, for a command that needs no other and no SECRET_KEY. */
export const ocrSettings = (env: NodeJS.ProcessEnv = process.env): Config['documents']['ocr'] =>
  loadConfig({ ...env, SECRET_KEY: env['SECRET_KEY'] || NO_SECRETS }).documents.ocr;

/** Returns the settings of requests to sources, for a command that needs no other and no SECRET_KEY. */
export const sourceSettings = (env: NodeJS.ProcessEnv = process.env): Pick<Config, 'connectors' | 'egress'> =>
  loadConfig({ ...env, SECRET_KEY: env['SECRET_KEY'] || NO_SECRETS });

/**
 * Stores an API key where `npm start` stores its own. Returns false if API_KEY is set in the environment, which takes
 * precedence.
 */
export function storeApiKey(key: string, env: NodeJS.ProcessEnv = process.env): boolean {
  if (env['API_KEY']) return false;
  const file = path.join(path.resolve(env['DATA_DIR'] || '.data'), 'api-key');
  writeFileSync(`${file}.new`, `${key}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
  return true;
}

/** Returns the settings of connectStore. @throws ConfigError that names missing settings */
export function storeSettings(config: Config) {
  return {
    mongodbUri: required(config.mongodbUri, 'MONGODB_URI'),
    qdrant: { ...config.qdrant, url: required(config.qdrant.url, 'QDRANT_URL') },
    files: config.files,
    textCacheBytes: config.textCacheBytes,
    secretKeys: config.secretKeys,
    eventsKeptDays: config.eventsKeptDays,
    ledgerLifeDays: config.ledgerLifeDays,
    maxQueuedFiles: config.maxQueuedFiles,
    schemaCheckMs: config.schemaCheckMs,
  };
}

/**
 * Returns the value of a setting.
 * @throws ConfigError that names the setting, if neither the environment nor the embedded engines supply it
 */
export function required<T>(value: T | null, name: SettingName): T {
  if (value === null) {
    throw new ConfigError(`${name} is not set. Set it, or run npm start first: it starts the embedded engines.`);
  }
  return value;
}
