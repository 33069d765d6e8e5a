/** Reads the configuration that settings produce, as flat paths such as `egress.maxRedirects`. */
import { loadConfig } from '../../config/config.js';

type Flat = Readonly<Record<string, unknown>>;

/** Required settings, and settings without which others would be invalid or have no effect. */
const BASE = {
  DATA_DIR: '/nowhere',
  API_KEY: 'test-key-of-the-settings',
  SECRET_KEY: `k1:${Buffer.alloc(32, 7).toString('base64')}`,
};
const AZURE = {
  AZURE_OPENAI_ENDPOINT: 'https://azure.example',
  AZURE_OPENAI_API_KEY: 'azure-key',
  AZURE_OPENAI_DEPLOYMENTS: 'AZURE_OPENAI=small',
};
const VERTEX = { VERTEX_PROJECT: 'project', VERTEX_ACCESS_TOKEN: 'token' };
const S3 = { S3_BUCKET: 'bucket', S3_ACCESS_KEY_ID: 'id', S3_SECRET_ACCESS_KEY: 'secret' };
/** Settings that must also be set for a setting to take effect, by the prefix of that setting's name. */
const NEEDED: readonly (readonly [start: string, others: Readonly<Record<string, string>>])[] = [
  ['QDRANT_WRITE_CONSISTENCY', { QDRANT_REPLICAS: '9' }],
  ['S3_', S3],
  ['OPENAI_BASE_URL', { OPENAI_API_KEY: 'key' }],
  ['COHERE_BASE_URL', { COHERE_API_KEY: 'key' }],
  ['SOLAR_BASE_URL', { SOLAR_API_KEY: 'key' }],
  ['AZURE_', AZURE],
  ['VERTEX_', VERTEX],
];

function flatten(value: unknown, at: string, rows: Record<string, unknown>): Record<string, unknown> {
  const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
  if (isGroup)
    for (const [key, member] of Object.entries(value)) flatten(member, at === '' ? key : `${at}.${key}`, rows);
  else if (typeof value !== 'function') rows[at] = value;
  return rows;
}

/** Returns all values of a configuration by their paths, without functions. @throws ConfigError */
export const readSettings = (env: Readonly<Record<string, string>>): Flat =>
  flatten(JSON.parse(JSON.stringify(loadConfig({ ...BASE, ...env }))), '', {});

/** Returns what one setting changes: paths with their new values, null for removed ones. @throws ConfigError */
export function changesOf(name: string, value: string): Flat {
  const [, others = {}] = NEEDED.find(([start]) => name.startsWith(start)) ?? [];
  const before = readSettings(others);
  const after = readSettings({ ...others, [name]: value });
  const paths = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const isChanged = (path: string): boolean => JSON.stringify(before[path]) !== JSON.stringify(after[path]);
  return Object.fromEntries(paths.filter(isChanged).map((path) => [path, after[path] ?? null]));
}
