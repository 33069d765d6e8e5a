import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';

/**
 * Returns the browser to use: the given one, without alternatives; otherwise Playwright's, else the system's. Null if
 * there is none.
 */
export function findChromium(configuredPath: string | null): string | null {
  const candidates =
    configuredPath === null
      ? [...playwrights(), '/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
      : [configuredPath];
  return candidates.find((candidate) => existsSync(candidate)) ?? null;
}

/** Returns the browser that this Playwright requires, then headless shells of any version in its cache. */
function playwrights(): string[] {
  const cache = path.join(homedir(), '.cache', 'ms-playwright');
  const shells = existsSync(cache)
    ? readdirSync(cache).filter((name) => name.startsWith('chromium_headless_shell-'))
    : [];
  return [
    chromium.executablePath(),
    ...shells
      .sort()
      .reverse()
      .flatMap((name) =>
        ['chrome-headless-shell-linux64/chrome-headless-shell', 'chrome-linux/headless_shell'].map((file) =>
          path.join(cache, name, file),
        ),
      ),
  ];
}
