import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

import { loadConfig } from '../../config/config.js';
import { ConfigError } from '../../config/configError.js';
import { settingsPage } from '../../scripts/settingsPage.js';

test('docs/settings.md matches config/config.ts', () => {
  expect(readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')).toBe(settingsPage());
});

test('names every invalid setting at once', () => {
  const load = () => loadConfig({ PORT: 'many', LOG_LEVEL: 'loud', DATA_DIR: '/nonexistent' });
  expect(load).toThrow(ConfigError);
  expect(load).toThrow(/"PORT"[\s\S]*"LOG_LEVEL"/);
});

test.each(['socks5://ann:secret@proxy.example:1080', 'ann:secret@proxy.example', 'http://ann:secret%@proxy.example'])(
  'rejects an invalid proxy without showing its credentials: %s',
  (address) => {
    const load = () => loadConfig({ DATA_DIR: '/nonexistent', PREMIUM_PROXY_URLS: `http://b.example:1, ${address}` });
    expect(load).toThrow(/"PREMIUM_PROXY_URLS" must be a list of addresses like/);
    expect(load).not.toThrow(/secret[%@]/);
  },
);

test('rejects a secret key that is not 32 bytes long', () => {
  expect(() => loadConfig({ DATA_DIR: '/nonexistent', SECRET_KEY: 'k1:c2hvcnQ=' })).toThrow(/openssl rand/);
});

test('rejects a configuration without a secret key', () => {
  expect(() => loadConfig({ DATA_DIR: '/nonexistent' })).toThrow(/SECRET_KEY is not set/);
});
