/** A Chromium that shows the widget of integrators, reaches nothing but this machine, and hears what goes wrong. */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';

import { findChromium } from '../../connectors/web/findChromium.js';

/** Where pictures are put; unset: none are taken. */
const PICTURES = process.env['TEST_PICTURES'];
/** Its style sheet asks for a font there. */
const FONTS = 'fonts.googleapis.com';
/**
 * Nothing else has an address. Not by routes: with those, Playwright answers the preflight requests of the browser itself,
 * and what our API allows other origins would not be seen.
 */
const NOTHING_OUTSIDE = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';
/** How long something may take to be seen. */
const PATIENCE_MS = 60_000;
/** How often the widget asks for what has changed: as often as it lets itself be told to. */
const POLLING_MS = 3_000;

/** What an integrator may tell the widget, as far as tests do. */
export interface WidgetWishes {
  readonly enabledIntegrations: readonly ({ readonly id: string } & Readonly<Record<string, unknown>>)[];
  readonly [prop: string]: unknown;
}

/** What the widget tells the page that it is in. */
export interface Told {
  readonly status: number;
  readonly action: string;
  readonly integration?: string;
  readonly data: Readonly<Record<string, unknown>> | null;
}

export interface WidgetBrowser {
  /**
   * Opens the page of an integrator for one of its customers.
   * @param plainHost a site without TLS: the widget would ask for its addresses with it, or without any scheme
   */
  open(customer: string, wishes: WidgetWishes, plainHost?: string): Promise<WidgetView>;
  close(): Promise<void>;
}

/** A script for a page whose requests shall name a site's addresses with http. */
const withoutTls = (host: string): string => `{
  const real = globalThis.fetch;
  const plain = (text) =>
    typeof text === 'string'
      ? text.replaceAll('https://${host}', 'http://${host}').replaceAll('"url":"${host}', '"url":"http://${host}')
      : text;
  globalThis.fetch = (url, init) => real(plain(url), { ...init, body: plain(init?.body) });
}`;

/** @param site where the page is, @param apiUrl what its widget is pointed at */
export async function startWidgetBrowser(site: string, apiUrl: string): Promise<WidgetBrowser> {
  if (PICTURES !== undefined) await mkdir(PICTURES, { recursive: true });
  const executablePath = findChromium(null);
  if (executablePath === null) throw new Error('There is no Chromium: install chromium-headless-shell');
  const browser = await chromium.launch({ executablePath, chromiumSandbox: false, args: [NOTHING_OUTSIDE] });
  return {
    async open(customer, wishes, plainHost) {
      const context = await browser.newContext({ viewport: { width: 1024, height: 760 }, locale: 'en-GB' });
      const all = { customer, apiURL: apiUrl, dataSourcePollingInterval: POLLING_MS, ...wishes };
      await context.addInitScript({ content: `globalThis.wishes = ${JSON.stringify(all)}` });
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

/** The widget as a person sees it. */
export class WidgetView {
  readonly page: Page;
  /** What a browser complains of, and what should never be asked or answered. */
  readonly complaints: string[] = [];
  private readonly context: BrowserContext;

  constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
    const complain = (what: string): void => {
      // The one thing that is asked outside, in vain.
      if (!what.includes(FONTS)) this.complaints.push(what);
    };
    context.on('request', (request) => {
      if (new URL(request.url()).hostname !== '127.0.0.1') complain(`asked outside: ${request.url()}`);
    });
    context.on('requestfailed', (request) => complain(`failed: ${request.url()}`));
    context.on('response', (response) => {
      if (response.status() >= 400) complain(`${response.status()}: ${response.request().method()} ${response.url()}`);
    });
    context.on('console', (message) => {
      const { url } = message.location();
      if (message.type() === 'error' || message.type() === 'warning') complain(`${message.text()} (${url})`);
    });
    context.on('weberror', (thrown) => complain(thrown.error().message));
  }

  /** @param name a part of it: what stands for its picture belongs to it too */
  press(name: string): Promise<void> {
    return this.page.getByRole('button', { name }).click();
  }

  text(text: string | RegExp): Locator {
    return this.page.getByText(text, typeof text === 'string' ? { exact: true } : {});
  }

  /** A row of one of its lists. */
  row(name: string): Locator {
    return this.page.locator('li, tr').filter({ has: this.page.getByText(name, { exact: true }) });
  }

  /**
   * Waits until something is seen, while the widget asks for news as if its time between went by at once.
   * @param meanwhile what a person would do that waits
   */
  async until(
    there: Locator,
    meanwhile: () => Promise<void> = () => this.page.clock.fastForward(POLLING_MS),
  ): Promise<void> {
    const deadline = Date.now() + PATIENCE_MS;
    while (!(await there.first().isVisible())) {
      if (Date.now() > deadline) {
        await this.picture('not-there');
        throw new Error(`${String(there)} is not seen; but: ${await this.page.locator('body').innerText()}`);
      }
      await meanwhile();
      await sleep(100);
    }
  }

  /** Has a list of files read anew. The widget does so itself only every other time that a file changes. */
  refresh(): Promise<void> {
    return this.page.locator('input[placeholder="Search"]').locator('xpath=../following-sibling::button[1]').click();
  }

  /** Chooses from the menu of the account that is shown. */
  async chooseOfAccount(item: string): Promise<void> {
    await this.page.locator('button[aria-haspopup="menu"]').last().click();
    await this.page.getByRole('menuitem', { name: item }).click();
  }

  /** Presses what opens a window, and answers that. */
  async popup(press: () => Promise<void>): Promise<Page> {
    const opened = this.page.waitForEvent('popup');
    await press();
    return opened;
  }

  told(): Promise<Told[]> {
    return this.page.evaluate('globalThis.told');
  }

  async picture(name: string, of: Page = this.page): Promise<void> {
    if (PICTURES !== undefined) await of.screenshot({ path: path.join(PICTURES, `widget-${name}.png`) });
  }

  close(): Promise<void> {
    return this.context.close();
  }
}
