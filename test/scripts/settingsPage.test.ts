import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';

import { ConfigError, loadConfig } from '../../config/config.js';
import { settingsPage } from '../../scripts/settingsPage.js';

test('docs/settings.md is what config/config.ts says', () => {
  expect(readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')).toBe(settingsPage());
});

test('every setting that can not be used is named at once', () => {
  const load = () => loadConfig({ PORT: 'many', LOG_LEVEL: 'loud', DATA_DIR: '/nonexistent' });
  expect(load).toThrow(ConfigError);
  expect(load).toThrow(/"PORT"[\s\S]*"LOG_LEVEL"/);
});

test.each(['socks5://ann:secret@proxy.example:1080', 'ann:secret@proxy.example', 'http://ann:secret%@proxy.example'])(
  'a proxy that can not be used is refused without its credentials being shown: %s',
  (address) => {
    const load = () => loadConfig({ DATA_DIR: '/nonexistent', PREMIUM_PROXY_URLS: `http://b.example:1, ${address}` });
    expect(load).toThrow(/"PREMIUM_PROXY_URLS" must be a list of addresses like/);
    expect(load).not.toThrow(/secret[%@]/);
  },
);

test('a secret key must have 32 bytes', () => {
  expect(() => loadConfig({ DATA_DIR: '/nonexistent', SECRET_KEY: 'k1:c2hvcnQ=' })).toThrow(/openssl rand/);
});

test('without a secret key the service does not start', () => {
  expect(() => loadConfig({ DATA_DIR: '/nonexistent' })).toThrow(/SECRET_KEY is not set/);
});
