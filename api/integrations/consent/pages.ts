/** HTML pages of a connection, without scripts. Each page shows what the user can do next. */
import type { ApiDeps } from '../../http/deps.js';
import { PageAnswer } from '../../http/operation.js';
import { html, Html } from '../../http/answers/html.js';

/** Path of the page on which a user selects or syncs items of a connected account; `{name}` is the page's secret. */
export const CONNECTION_PATH = '/connections/{name}';
export const pagePath = (name: string): string => CONNECTION_PATH.replace('{name}', name);
export const pageUrl = (name: string, { publicUrl }: Pick<ApiDeps, 'publicUrl'>): string =>
  `${publicUrl()}${pagePath(name)}`;

const STYLE = new Html(`
:root { color-scheme: light dark; --ink: #16202c; --soft: #5b6877; --line: #d8dee6; --paper: #fff; --ground: #f3f5f8; --mark: #0b6bcb; --bad: #b3261e; --good: #1a7f37 }
@media (prefers-color-scheme: dark) { :root { --ink: #e8edf3; --soft: #9aa7b6; --line: #33404f; --paper: #18212c; --ground: #0f151d; --mark: #5aa9f5; --bad: #ff8a80; --good: #57c878 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 34rem; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; padding: 2rem }
h1 { font-size: 1.35rem; line-height: 1.3; margin: 0 0 .5rem } p { margin: .5rem 0; overflow-wrap: anywhere } .soft { color: var(--soft) }
.good::before { content: "\\2713\\00a0"; color: var(--good) } .bad::before { content: "!\\00a0"; color: var(--bad) }
button, .button { display: inline-block; font: inherit; padding: .55rem 1.1rem; margin: 1rem .5rem 0 0; border: 1px solid var(--mark); border-radius: .5rem; background: var(--mark); color: var(--paper); text-decoration: none; cursor: pointer }
button.quiet { background: transparent; color: var(--mark) } button.link { margin: 0 1rem 0 0; padding: 0; border: 0; background: none; color: var(--mark); text-decoration: underline } li button.link { margin: 0 } button:focus-visible, a:focus-visible, input:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px }
ul { list-style: none; margin: 1rem 0 0; padding: 0; border: 1px solid var(--line); border-radius: .5rem; max-height: 24rem; overflow: auto }
li { display: flex; gap: .6rem; align-items: center; padding: .5rem .75rem; border-top: 1px solid var(--line); overflow-wrap: anywhere } li:first-child { border-top: 0 }
li label, li > span { display: flex; gap: .6rem; align-items: baseline; flex: 1; min-width: 0 } li label { cursor: pointer } label > span { min-width: 0 } nav { margin-top: .75rem }
`);

/** Reloads the page automatically. */
const RELOAD = html`<meta http-equiv="refresh" content="2" />`;

/** Renders a page of a connection: a title, its tone, which sets the mark before the title, and a body. */
export function page(
  status: number,
  title: string,
  tone: 'good' | 'bad' | 'plain',
  body: Html,
  head: Html = html``,
): PageAnswer {
  const whole = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        ${head}
        <title>${title}</title>
        <style>
          ${STYLE}
        </style>
      </head>
      <body>
        <main>
          <h1 class="${tone}">${title}</h1>
          ${body}
        </main>
      </body>
    </html>`;
  return new PageAnswer(status, whole.text);
}

const CLOSE = html`<p class="soft">You can close this window and go back to the application.</p>`;
const TRY_AGAIN = html`<p>To try again, go back to the application and connect once more.</p>`;

/**
 * Renders the page after a successful connection. @param chooser secret in the URL of the selection page; null: none
 */
export function connectedPage(name: string, account: string | null, chooser: string | null): PageAnswer {
  const accountLine = account === null ? html`` : html`<p>Account: <strong>${account}</strong></p>`;
  const next =
    chooser === null
      ? CLOSE
      : html`<p>Choose the files to search, or close this window and choose them later in the application.</p>
          <p><a class="button" href="${pagePath(chooser)}">Choose files</a></p>`;
  return page(200, `${name} is connected`, 'good', html`${accountLine}${next}`);
}

/** Renders the page of a connection in progress, which reloads automatically. */
export const pendingPage = (name: string): PageAnswer =>
  page(
    202,
    `${name} is being connected`,
    'plain',
    html`<p>
        This takes longer than usual and continues in the background. As soon as it ends, this page and the application
        show the result.
      </p>
      ${CLOSE}`,
    RELOAD,
  );

/** Renders the page after the user refused the consent. */
export const cancelledPage = (name: string): PageAnswer =>
  page(
    200,
    `${name} was not connected`,
    'plain',
    html`<p>
        You did not give your consent, so nothing was connected and nothing was changed. To try again, go back to the
        application and connect once more.
      </p>
      <p class="soft">You can close this window.</p>`,
  );

/** Renders the page of a failed connection. @param next paragraph that says what the user can do */
export const failedPage = (title: string, why: string, status = 400, next = TRY_AGAIN): PageAnswer =>
  page(
    status,
    title,
    'bad',
    html`<p>${why}</p>
      ${next}
      <p class="soft">You can close this window.</p>`,
  );

/** Renders the page for an address that is invalid or has expired. */
export const unknownPage = (): PageAnswer =>
  failedPage('This link is not valid', 'The link is incomplete or has expired.');

/** Renders the page after the user has synced or cancelled on the page of a connected account. */
export const donePage = (title: string, sentence: string): PageAnswer =>
  page(
    200,
    title,
    'good',
    html`<p>${sentence}</p>
      ${CLOSE}`,
  );
