import { CUSTOMER_ID, EXAMPLE_ORIGIN } from '../openapi/samples/request.js';

/**
 * Returns the page at /docs/. Its addresses are relative, because a proxy may serve the API below a path.
 * Horizontal overflow is clipped, because some tables of Scalar are a few pixels wider than a phone.
 */
export const docsPage = (nonce: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta property="csp-nonce" content="${nonce}">
<title>Allotrope API reference</title>
<link rel="icon" href="data:,">
<style nonce="${nonce}">#reference { overflow-x: clip; }</style>
</head>
<body>
<div id="reference"><p id="state">Loading the reference…</p></div>
<noscript><p>This page needs JavaScript. <a href="../openapi.json">openapi.json</a> is the same reference as JSON.</p></noscript>
<script src="page.js"></script>
<script src="scalar.js" defer></script>
</body>
</html>
`;

/**
 * Script of the page: shows /openapi.json with the address of the page in place of that of the examples. It runs before
 * Scalar's script and adds the nonce to every style element, because Scalar omits the nonce from some.
 *
 * By default, Scalar sends the requests of the console through its vendor's proxy, loads fonts, and offers to send the
 * document to its vendor's chat and registry. These features are disabled.
 */
export const DOCS_SCRIPT = `
const nonce = document.querySelector('meta[property=csp-nonce]').content;
const createElement = document.createElement;
document.createElement = function (name, ...rest) {
  const made = createElement.call(this, name, ...rest);
  if (made instanceof HTMLStyleElement) made.nonce = nonce;
  return made;
};
const show = async () => {
  const origin = new URL('..', location.href).href.replace(/\\/$/, '');
  const answer = await fetch('../openapi.json');
  if (!answer.ok) throw new Error('openapi.json: ' + answer.status);
  const content = JSON.parse((await answer.text()).replaceAll('${EXAMPLE_ORIGIN}', origin));
  content.servers = [{ url: origin, description: 'The server of this page.' }];
  content.info.description += '\\n\\n[The guide](../guide/) begins with a quickstart. [openapi.json](../openapi.json) is the document of this page.';
  // The console then writes "Bearer" itself.
  const { securitySchemes } = content.components;
  const description = securitySchemes.apiKey.description.replace('\`Bearer <API key>\`.', 'API key, without \`Bearer\`.');
  securitySchemes.apiKey = { type: 'http', scheme: 'bearer', description };
  document.getElementById('state').remove();
  Scalar.createApiReference('#reference', {
    content,
    proxyUrl: '',
    withDefaultFonts: false,
    telemetry: false,
    agent: { disabled: true, hideAddApi: true },
    mcp: { disabled: true },
    hideClientButton: true,
    showDeveloperTools: 'never',
    documentDownloadType: 'none',
    // The samples of the document are the only ones: generated ones would lack credentials.
    hiddenClients: true,
    authentication: {
      preferredSecurityScheme: [['apiKey', 'customerId']],
      securitySchemes: { customerId: { value: '${CUSTOMER_ID}' } },
    },
    persistAuth: false,
    // Scalar shows the names of both security schemes on one button. With its usual font and width, the button covers
    // the heading next to it.
    customCss: '.group\\\\/combobox-button { font-size: 11px; line-height: 1.1; max-width: 11rem; white-space: normal; text-align: right }',
    defaultOpenFirstTag: false,
    orderSchemaPropertiesBy: 'preserve',
  });
};
// Scalar's script is deferred, so it has run before this event.
addEventListener('DOMContentLoaded', () => show().catch((error) => {
  document.getElementById('reference').textContent = 'The reference could not be loaded. ' + error.message;
}));
`;
