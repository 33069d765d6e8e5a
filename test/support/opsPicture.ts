import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { chromium } from 'playwright-core';

import { findChromium } from '../../connectors/web/findChromium.js';
import type { TestService } from './service.js';

/** Folder for screenshots. Unset: none are taken. */
const PICTURES = process.env['TEST_PICTURES'];

/** Takes a screenshot of /ops for visual review, if TEST_PICTURES names a folder. */
export async function opsPicture({ url, apiKey }: Pick<TestService, 'url' | 'apiKey'>, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await mkdir(PICTURES, { recursive: true });
  const browser = await chromium.launch({ executablePath: findChromium(null) ?? '' });
  const page = await browser.newPage({ extraHTTPHeaders: { authorization: `Bearer ${apiKey}` } });
  await page.goto(`${url}/ops`);
  await page.screenshot({ path: path.join(PICTURES, `${name}.png`), fullPage: true });
  await browser.close();
}
