/**
 * The consent page of an emulated OAuth provider: it shows the app, the accounts and the scopes, and offers Allow and
 * Deny.
 */

/** A person who can consent. */
export interface EmulatedPerson {
  /** Id of the person in tokens. */
  readonly id: string;
  /** Name of the person on the consent page. */
  readonly label: string;
}

export interface ConsentQuestion {
  /** Display name of the provider. */
  readonly provider: string;
  /** Name of the app, as registered with the provider. */
  readonly app: string;
  /** The first one is preselected. */
  readonly people: readonly EmulatedPerson[];
  readonly scopes: readonly string[];
  /** Host of the redirect URI. */
  readonly returnsTo: string;
  /** Request parameters that the form sends back. */
  readonly parameters: Readonly<Record<string, string>>;
}

const escape = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

const STYLE = `
:root{color-scheme:light dark;--ink:#1f2328;--soft:#59636e;--line:#d1d9e0;--paper:#fff;--ground:#eef1f4;--mark:#5b3cc4}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#9aa4af;--line:#3a434d;--paper:#1b2027;--ground:#11151a;--mark:#a892ff}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:27rem;background:var(--paper);border:1px solid var(--line);border-radius:.75rem;padding:1.75rem;overflow-wrap:anywhere}
h1{font-size:1.25rem;line-height:1.35;margin:.25rem 0 1rem}.soft{color:var(--soft);font-size:.9rem;margin:.25rem 0}
fieldset{border:1px solid var(--line);border-radius:.5rem;margin:0 0 1rem;padding:.25rem .75rem}legend{padding:0 .25rem;color:var(--soft);font-size:.9rem}
label{display:flex;gap:.6rem;align-items:baseline;padding:.35rem 0;cursor:pointer}small{color:var(--soft)}
ul{margin:.25rem 0 1rem;padding-left:1.25rem}li{margin:.25rem 0}
footer{display:flex;gap:.5rem;justify-content:flex-end;margin-top:1.25rem}
button{font:inherit;padding:.5rem 1.25rem;border:1px solid var(--mark);border-radius:.5rem;background:var(--mark);color:var(--paper);cursor:pointer}
button.quiet{background:transparent;color:var(--mark)}button:focus-visible,input:focus-visible{outline:3px solid var(--mark);outline-offset:2px}`;

export function consentPage({ provider, app, people, scopes, returnsTo, parameters }: ConsentQuestion): string {
  const hidden = Object.entries(parameters)
    .map(([name, value]) => `<input type="hidden" name="${escape(name)}" value="${escape(value)}">`)
    .join('');
  const choices = people
    .map(
      ({ id, label }, at) =>
        `<label><input type="radio" name="person" value="${escape(id)}"${at === 0 ? ' checked' : ''}><span>${escape(label)}<br><small>${escape(id)}</small></span></label>`,
    )
    .join('');
  const scopeList =
    scopes.length === 0
      ? '<p>The app can read everything that this account can read.</p>'
      : `<p class="soft">The app will have these scopes:</p><ul>${scopes.map((scope) => `<li>${escape(scope)}</li>`).join('')}</ul>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(provider)}: consent</title><style>${STYLE}</style></head><body><main>
<p class="soft">${escape(provider)} (emulated, not a real account)</p>
<h1>${escape(app)} asks for access to your ${escape(provider)} account</h1>
<form method="post">${hidden}
<fieldset><legend>Account</legend>${choices}</fieldset>${scopeList}
<p class="soft">You will be sent back to ${escape(returnsTo)}.</p>
<footer><button class="quiet" name="decision" value="deny">Deny</button><button name="decision" value="allow">Allow</button></footer>
</form></main></body></html>`;
}
