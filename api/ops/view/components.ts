/** Small components of the operator page. */
import { html, type Html } from '../../http/answers/html.js';

export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'off';

export const nothing = html``;
export const badge = (tone: Tone, word: string): Html => html`<span class="badge ${tone}">${word}</span>`;

const DAY_MS = 86_400_000;
const pad = (value: number): string => String(value).padStart(2, '0');
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** Formats a time in UTC, without the date if it is within twelve hours of now. */
export function when(at: Date | null, now = Date.now()): Html {
  if (at === null) return html`<span class="soft">never</span>`;
  const time = `${pad(at.getUTCHours())}:${pad(at.getUTCMinutes())}`;
  const isNear = Math.abs(at.getTime() - now) < DAY_MS / 2;
  const day = `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()] ?? ''}${at.getUTCFullYear() === new Date(now).getUTCFullYear() ? '' : ` ${at.getUTCFullYear()}`}`;
  const iso = at.toISOString();
  return html`<time class="nowrap" datetime="${iso}" title="${iso}">${isNear ? time : `${day} ${time}`}</time>`;
}

/** Formats a time with seconds. */
export const clock = (at: Date): string =>
  `${pad(at.getUTCHours())}:${pad(at.getUTCMinutes())}:${pad(at.getUTCSeconds())} UTC`;

export const count = (value: number, max = Infinity): string =>
  `${value.toLocaleString('en')}${value >= max ? '+' : ''}`;

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;
export function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(value) / 3));
  const shown = value / 1000 ** power;
  return `${shown.toLocaleString('en', { maximumFractionDigits: shown < 10 && power > 0 ? 1 : 0 })} ${UNITS[power] ?? 'B'}`;
}

export const words = (constant: string): string => constant.toLowerCase().replaceAll('_', ' ');

/** Renders a card with a heading. */
export const card = (title: string, about: Html | string, inside: Html, links: Html = nothing): Html =>
  html`<section class="card" aria-label="${title}">
    <header>
      <h2>${title}</h2>
      <p>${about}</p>
      ${links}
    </header>
    ${inside}
  </section>`;

export const empty = (sentence: string): Html => html`<p class="empty">${sentence}</p>`;
/** Renders the placeholder for data that could not be read. */
export const unavailable = (): Html =>
  html`<p class="alert">
    This data could not be read; the log of the API contains the cause. This page tries again automatically.
  </p>`;

/** Renders a link that an organization supplied: only http and https. */
export const webLink = (url: string | null, text: string): Html =>
  url !== null && /^https?:\/\//i.test(url)
    ? html`<a href="${url}" rel="noreferrer noopener nofollow" target="_blank">${text}</a>`
    : html`${text}`;

/** Renders a link to Temporal's Web UI; plain text if its URL is not configured. */
export const temporalLink = (link: string | null, text: Html | string, title = ''): Html =>
  link === null
    ? html`${text}`
    : html`<a href="${link}" rel="noreferrer noopener" target="_blank" title="${title}">${text}</a>`;

/** Renders the pages of a list. @param linkOf returns the URL of a page by its number, starting at 1 */
export function pager(page: number, pages: number, linkOf: (page: number) => string): Html {
  if (pages <= 1) return nothing;
  const link = (to: number, text: string): Html =>
    to < 1 || to > pages ? html`<span class="soft">${text}</span>` : html`<a href="${linkOf(to)}">${text}</a>`;
  return html`<nav aria-label="Pages">
    ${link(page - 1, '← before')} <span>page ${page} of ${pages}</span> ${link(page + 1, 'next →')}
  </nav>`;
}
