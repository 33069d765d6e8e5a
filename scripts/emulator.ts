import { CONNECTED_SOURCES, type ConnectedSourceType } from '../contract/sources/connectedSources.js';
import { startEmulators } from './demo/emulators.js';
import { stopOnSignal } from './service.js';

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
const isConsent = (path: string): boolean => path.endsWith('/oauth_url');

const allSources = Object.keys(CONNECTED_SOURCES);
const sources = process.argv.slice(2).map((name) => name.toUpperCase());
const unknown = sources.filter((name) => !allSources.includes(name));
if (sources.length === 0 || unknown.length > 0) {
  if (unknown.length > 0) console.error(`There is no source named ${unknown.join(', ')}.`);
  console.error(
    `Name one or more sources: npm run emulator -- FRESHDESK\nSources: ${allSources.toSorted().join(', ')}`,
  );
  process.exit(1);
}

const serviceUrl = process.env['PUBLIC_URL'] ?? `http://127.0.0.1:${process.env['PORT'] ?? '8000'}`;
const { env, calls, close } = await startEmulators(sources as ConnectedSourceType[], serviceUrl);
stopOnSignal(close, (line) => console.log(`· ${line}`));

const settings = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`);
console.log('\n1. Start the service in a second terminal with these settings:\n');
console.log(`${[...settings, 'npm start'].join(' \\\n  ')}\n`);
console.log('2. Connect in a third terminal, with the functions of the quickstart:\n');
for (const { path, body } of calls)
  console.log(
    `post ${path.slice(1)} ${quoted(JSON.stringify(body))}${isConsent(path) ? ' | jq -r .oauth_url' : ' | jq'}\n`,
  );
if (calls.some(({ path }) => isConsent(path)))
  console.log('   Open each printed address in a browser, and allow access.\n');
console.log('The emulator keeps running. Ctrl-C ends it.');
