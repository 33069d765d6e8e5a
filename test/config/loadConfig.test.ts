import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { apiSettings, storeApiKey, loadConfig, required, storeSettings } from '../../config/config.js';
import { ConfigError } from '../../config/configError.js';
import { readSecretKeys } from '../../config/secretKeys.js';

let dataDir: string;
const keyOf = (byte: number): string => Buffer.alloc(32, byte).toString('base64');
const SECRET_KEY = `k1:${keyOf(1)}`;
const put = (name: string, text: string): void => writeFileSync(path.join(dataDir, name), text);
const load = (env: Record<string, string> = {}) => loadConfig({ DATA_DIR: dataDir, SECRET_KEY, ...env });

beforeEach(() => void (dataDir = mkdtempSync(path.join(tmpdir(), 'allotrope-config-'))));
afterEach(() => rmSync(dataDir, { recursive: true }));

test('uses an address in the environment rather than that of the embedded engine', () => {
  const engines = {
    temporalAddress: 'e:1',
    temporalUiUrl: 'http://e:2',
    mongodbUri: 'mongodb://e:3',
    qdrantUrl: 'http://e:4',
    modelPath: '/e5',
    tokenizerPath: '/e6',
  };
  const addressesOf = ({ temporal, mongodbUri, qdrant, embedding }: ReturnType<typeof load>) => [
    ...[temporal.address, temporal.uiUrl, mongodbUri, qdrant.url],
    ...[embedding.modelPath, embedding.tokenizerPath],
  ];
  expect(addressesOf(load())).toEqual([null, null, null, null, null, null]);
  put('engines.json', JSON.stringify(engines));
  expect(addressesOf(load())).toEqual(Object.values(engines));
  const ownAddresses = {
    TEMPORAL_ADDRESS: 'o:1',
    TEMPORAL_UI_URL: 'http://o:2',
    MONGODB_URI: 'mongodb://o:3',
    QDRANT_URL: 'http://o:4',
    EMBEDDING_MODEL_PATH: '/o5',
    EMBEDDING_TOKENIZER_PATH: '/o6',
  };
  expect(addressesOf(load(ownAddresses))).toEqual(Object.values(ownAddresses));
});

test('uses keys in the environment rather than those in DATA_DIR', () => {
  put('api-key', 'kept-key-of-the-service\n');
  put('secret-key', `k9:${keyOf(9)}\n`);
  expect(load({ SECRET_KEY: '' })).toMatchObject({ apiKey: 'kept-key-of-the-service', secretKeys: [{ id: 'k9' }] });
  expect(load({ API_KEY: 'key-from-outside-1' })).toMatchObject({
    apiKey: 'key-from-outside-1',
    secretKeys: [{ id: 'k1' }],
  });
});

test('requires a secret key for the configuration, but not for calls of the API', () => {
  expect(() => load({ SECRET_KEY: '' })).toThrow(ConfigError);
  expect(apiSettings({ DATA_DIR: dataDir, API_KEY: 'key-from-outside-1', PORT: '81' })).toEqual({
    url: 'http://127.0.0.1:81',
    apiKey: 'key-from-outside-1',
  });
  expect(apiSettings({ DATA_DIR: dataDir, PORT: '0' })).toEqual({ url: null, apiKey: null });
});

test('puts an IPv6 address of HOST in brackets in the default of PUBLIC_URL', () => {
  const urls = ['::', '::1', '127.0.0.1', 'localhost'].map((HOST) => load({ HOST, PORT: '81' }).publicUrl);
  expect(urls).toEqual(['http://[::]:81', 'http://[::1]:81', 'http://127.0.0.1:81', 'http://localhost:81']);
});

test('keeps the order of several secret keys, and rejects keys that are invalid or have the same id', () => {
  const keys = readSecretKeys(`k2:${keyOf(2)}, k1:${keyOf(1)}`);
  expect(keys.map(({ id, key }) => [id, key[0]])).toEqual([
    ['k2', 2],
    ['k1', 1],
  ]);
  for (const wrong of [
    keyOf(3),
    `:${keyOf(3)}`,
    `k:${Buffer.alloc(31, 3).toString('base64')}`,
    `k:${keyOf(3)}:x`,
    'k:',
    'k',
  ])
    expect(() => readSecretKeys(wrong)).toThrow(
      /^SECRET_KEY accepts keys `id:base64 of 32 bytes`, separated by commas/,
    );
  expect(() => readSecretKeys(`k1:${keyOf(2)},k1:${keyOf(1)}`)).toThrow(/^SECRET_KEY has two keys with the same id/);
});

test('names every invalid setting, treats empty ones as unset and ignores unknown ones', () => {
  expect(() => load({ PORT: 'x', LOG_LEVEL: 'loud', SECRET_KEY: 'k1:x', MAX_REDIRECTS: '-1' })).toThrow(
    /"PORT"[\s\S]*"LOG_LEVEL"[\s\S]*"SECRET_KEY" accepts[\s\S]*"MAX_REDIRECTS"/,
  );
  expect(load({ PORT: '', SOMETHING_ELSE: 'x' }).port).toBe(8000);
  expect(() => load({ OPENAI_API_KEY: '', QDRANT_WRITE_CONSISTENCY: '2' })).toThrow(/QDRANT_WRITE_CONSISTENCY/);
});

test('checks no disk for file storage in a bucket, and rejects an incomplete pair of keys', () => {
  const { disks, files } = load({ S3_BUCKET: 'b', S3_ACCESS_KEY_ID: '', S3_SECRET_ACCESS_KEY: '' });
  expect(disks.folders.map(({ name }) => name)).not.toContain('FILE_STORAGE_DIR');
  expect(files.s3).toMatchObject({ bucket: 'b', credentials: null });
  const pair = { S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 's' };
  expect(load({ S3_BUCKET: 'b', ...pair }).files.s3?.credentials).toEqual({ accessKeyId: 'id', secretAccessKey: 's' });
  for (const name of ['S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'] as const)
    expect(() => load({ S3_BUCKET: 'b', ...pair, [name]: '' })).toThrow(
      /Set both S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY/,
    );
});

test('stores a new API key in DATA_DIR, readable by its owner only, unless the environment has one', () => {
  expect(storeApiKey('key-from-rotation-1', { DATA_DIR: dataDir, API_KEY: 'key-from-outside-1' })).toBe(false);
  expect(load().apiKey).toBeNull();
  expect(storeApiKey('key-from-rotation-1', { DATA_DIR: dataDir })).toBe(true);
  expect(load().apiKey).toBe('key-from-rotation-1');
  expect(readFileSync(path.join(dataDir, 'api-key'), 'utf8')).toBe('key-from-rotation-1\n');
  expect(statSync(path.join(dataDir, 'api-key')).mode & 0o777).toBe(0o600);
});

test('names a missing setting that a process requires', () => {
  expect(required('x', 'MONGODB_URI')).toBe('x');
  expect(required(0, 'MONGODB_URI')).toBe(0);
  expect(() => required(null, 'MONGODB_URI')).toThrow(/^MONGODB_URI is not set\./);
});

test('passes each setting of the stores under its own name, and names a missing address', () => {
  const [mongodb, qdrant] = [{ MONGODB_URI: 'mongodb://o:3' }, { QDRANT_URL: 'http://o:4' }];
  const config = load({ ...mongodb, ...qdrant, EVENTS_KEPT_DAYS: '3', LEDGER_LIFE_DAYS: '4', MAX_QUEUED_FILES: '5' });
  const settings = storeSettings(config);
  expect(settings).toMatchObject({ mongodbUri: 'mongodb://o:3', qdrant: { ...config.qdrant, url: 'http://o:4' } });
  expect(settings).toMatchObject({ eventsKeptDays: 3, ledgerLifeDays: 4, maxQueuedFiles: 5 });
  for (const name of ['files', 'textCacheBytes', 'secretKeys', 'schemaCheckMs'] as const)
    expect(settings[name]).toBe(config[name]);
  expect(() => storeSettings(load(qdrant))).toThrow(/^MONGODB_URI is not set/);
  expect(() => storeSettings(load(mongodb))).toThrow(/^QDRANT_URL is not set/);
});
