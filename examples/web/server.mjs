/** The server of your site: serves the page and access tokens, and keeps the API key secret. */
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

import { tokenOf } from '../sample.mjs';

const { ALLOTROPE_URL: url = 'http://localhost:8000', PORT = '3000' } = process.env;
const packaged = (name) => readFile(new URL(import.meta.resolve(name)));

/** Bundles the published widget, a React component, into a script that a page without React can load. */
async function widget() {
  const contents = `
    import { createElement } from 'react';
    import { createRoot } from 'react-dom/client';
    import { CarbonConnect } from 'carbon-connect';
    export function createWidget(element, props) {
      const root = createRoot(element);
      const show = (open) => root.render(createElement(CarbonConnect, { ...props, open, setOpen: show }));
      return { open: () => show(true) };
    }`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    ...{ bundle: true, format: 'esm', jsx: 'automatic', write: false, minify: true },
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  return outputFiles[0].contents;
}

const SCRIPT = 'text/javascript';
const served = {
  '/': ['text/html; charset=utf-8', await readFile(new URL('index.html', import.meta.url))],
  '/widget.mjs': [SCRIPT, await widget()],
  '/pdf.mjs': [SCRIPT, await packaged('pdfjs-dist/build/pdf.min.mjs')],
  '/pdf.worker.mjs': [SCRIPT, await packaged('pdfjs-dist/build/pdf.worker.min.mjs')],
};

async function answer(request, response) {
  try {
    if (request.url === '/token') {
      // In your site, the user is that of the session. In this example, every visitor is alice.
      const token = await tokenOf('alice');
      return response.setHeader('content-type', 'application/json').end(JSON.stringify({ access_token: token, url }));
    }
    const [type, body] = served[request.url] ?? [];
    return type ? response.setHeader('content-type', type).end(body) : response.writeHead(404).end();
  } catch (error) {
    console.error(error.message);
    return response.writeHead(502).end();
  }
}

const server = createServer((request, response) => void answer(request, response));
server.listen(Number(PORT), '127.0.0.1', () => console.log(`Open http://localhost:${server.address().port}`));
