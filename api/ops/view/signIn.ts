import { html, type Html } from '../../http/answers/html.js';
import { OPS_PATH } from '../../http/identity/opsSessions.js';
import { nothing } from './components.js';
import { wholePage } from './page.js';

/** Renders the form for an API key. @param error error of the last attempt */
export function signInPage(nonce: string, error: string | null): string {
  const message: Html = error === null ? nothing : html`<p class="wrong" role="alert">${error}</p>`;
  return wholePage(
    'Sign in · Operations',
    nonce,
    html`<main class="sign">
      <h1>Operations</h1>
      <p class="soft">What the service does for one organization: its data sources, runs, failures, deliveries.</p>
      ${message}
      <form method="post" action="${OPS_PATH}/sign_in" autocomplete="off">
        <label for="api_key">API key of the organization</label>
        <input id="api_key" name="api_key" type="password" required maxlength="512" autofocus spellcheck="false" />
        <button class="main">Sign in</button>
      </form>
    </main>`,
  );
}
