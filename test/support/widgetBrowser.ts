/** Starts a Chromium that shows the integrators' widget, can reach only this machine, and records errors. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';

import { findChromium } from '../../connectors/web/findChromium.js';

/** Folder for screenshots. Unset: none are taken. */
const PICTURES = process.env['TEST_PICTURES'];
/** The widget's style sheet requests a font from this host. */
const FONTS = 'fonts.googleapis.com';
/**
 * Makes all other hosts unresolvable. Routes of Playwright cannot replace this: with them, it answers the
 * browser's preflight requests, and the CORS headers of our API would not be tested.
 */
const LOOPBACK_ONLY = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';
/** How long to wait until an element is visible, in milliseconds. */
const TIME_LIMIT_MS = 60_000;
/** The widget's polling interval in milliseconds, the shortest that it allows. */
const POLLING_MS = 3_000;

/** The options of the widget that tests use. */
export interface WidgetOptions {
  readonly enabledIntegrations: readonly ({ readonly id: string } & Readonly<Record<string, unknown>>)[];
  readonly [prop: string]: unknown;
}

/** An event that the widget sends to its page. */
export interface WidgetCallback {
  readonly status: number;
  readonly action: string;
  readonly integration?: string;
  readonly data: Readonly<Record<string, unknown>> | null;
}

export interface WidgetBrowser {
  /**
   * Opens the integrator's page for one of its customers.
   * @param plainHost host of a site without TLS: its addresses, which the widget changes to https, get http again
   */
  open(customer: string, options: WidgetOptions, plainHost?: string): Promise<WidgetView>;
  close(): Promise<void>;
}

/** Returns a script that makes the page's requests use http for a site's addresses. */
const withoutTls = (host: string): string => `{
  const real = globalThis.fetch;
  const plain = (text) =>
    typeof text === 'string'
      ? text.replaceAll('https://${host}', 'http://${host}').replaceAll('"url":"${host}', '"url":"http://${host}')
      : text;
  globalThis.fetch = (url, init) => real(plain(url), { ...init, body: plain(init?.body) });
}`;

/** @param site address of the page @param apiUrl API address for the widget */
export async function startWidgetBrowser(site: string, apiUrl: string): Promise<WidgetBrowser> {
  if (PICTURES !== undefined) await mkdir(PICTURES, { recursive: true });
  const executablePath = findChromium(null);
  if (executablePath === null) throw new Error('Chromium was not found: install chromium-headless-shell');
  const browser = await chromium.launch({ executablePath, chromiumSandbox: false, args: [LOOPBACK_ONLY] });
  return {
    async open(customer, options, plainHost) {
      const context = await browser.newContext({ viewport: { width: 1024, height: 760 }, locale: 'en-GB' });
      const widgetOptions = { customer, apiURL: apiUrl, dataSourcePollingInterval: POLLING_MS, ...options };
      await context.addInitScript({ content: `globalThis.options = ${JSON.stringify(widgetOptions)}` });
      if (plainHost !== undefined) await context.addInitScript({ content: withoutTls(plainHost) });
      const page = await context.newPage();
      await page.clock.install();
      const view = new WidgetView(context, page);
      await page.goto(site);
      return view;
    },
    close: () => browser.close(),
  };
}

/** The widget's user interface. */
export class WidgetView {
  readonly page: Page;
  /** Browser errors, failed requests, and requests to other hosts. */
  readonly browserErrors: string[] = [];
  private readonly context: BrowserContext;

  constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
    const record = (what: string): void => {
      // The only expected request to another host; it fails.
      if (!what.includes(FONTS)) this.browserErrors.push(what);
    };
    context.on('request', (request) => {
      if (new URL(request.url()).hostname !== '127.0.0.1') record(`requested outside: ${request.url()}`);
    });
    context.on('requestfailed', (request) => record(`failed: ${request.url()}`));
    context.on('response', (response) => {
      if (response.status() >= 400) record(`${response.status()}: ${response.request().method()} ${response.url()}`);
    });
    context.on('console', (message) => {
      const { url } = message.location();
      if (message.type() === 'error' || message.type() === 'warning') record(`${message.text()} (${url})`);
    });
    context.on('weberror', (thrown) => record(thrown.error().message));
  }

  /** Clicks a button. @param name a part of its accessible name, which also contains the alt text of its icon */
  press(name: string): Promise<void> {
    return this.page.getByRole('button', { name }).click();
  }

  text(text: string | RegExp): Locator {
    return this.page.getByText(text, typeof text === 'string' ? { exact: true } : {});
  }

  /** Returns a row of one of the widget's lists. */
  row(name: string): Locator {
    return this.page.locator('li, tr').filter({ has: this.page.getByText(name, { exact: true }) });
  }

  /**
   * Waits until an element is visible, and meanwhile advances the widget's clock so that the widget polls immediately.
   * @param meanwhile what to do between checks; by default advances the clock
   */
  async until(
    target: Locator,
    meanwhile: () => Promise<void> = () => this.page.clock.fastForward(POLLING_MS),
  ): Promise<void> {
    const deadline = Date.now() + TIME_LIMIT_MS;
    while (!(await target.first().isVisible())) {
      if (Date.now() > deadline) {
        await this.picture('not-visible');
        throw new Error(
          `${String(target)} is not visible; the page shows: ${await this.page.locator('body').innerText()}`,
        );
      }
      await meanwhile();
      await sleep(100);
    }
  }

  /** Reloads a list of files. The widget itself does so only every other time that a file changes. */
  refresh(): Promise<void> {
    return this.page.locator('input[placeholder="Search"]').locator('xpath=../following-sibling::button[1]').click();
  }

  /** Chooses an item from the menu of the displayed account. */
  async chooseOfAccount(item: string): Promise<void> {
    await this.page.locator('button[aria-haspopup="menu"]').last().click();
    await this.page.getByRole('menuitem', { name: item }).click();
  }

  /** Performs an action that opens a window, and returns that window. */
  async popup(press: () => Promise<void>): Promise<Page> {
    const opened = this.page.waitForEvent('popup');
    await press();
    return opened;
  }

  callbacks(): Promise<WidgetCallback[]> {
    return this.page.evaluate('globalThis.callbacks');
  }

  async picture(name: string, of: Page = this.page): Promise<void> {
    if (PICTURES !== undefined) await of.screenshot({ path: path.join(PICTURES, `widget-${name}.png`) });
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
