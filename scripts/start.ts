import { explanationOf } from '../config/process/startFailure.js';
import { startService, stopOnSignal } from './service.js';

const printLine = (line: string): void => console.log(`· ${line}`);

try {
  const service = await startService({ env: process.env, printLine });
  stopOnSignal(() => service.stop(), printLine);
  console.log(`\nAllotrope serves at ${service.url} (docs: ${service.url}/docs, guide: ${service.url}/guide)`);
  if (service.temporalUiUrl) console.log(`Temporal's Web UI: ${service.temporalUiUrl}`);
  if (service.newApiKeyFile !== null)
    console.log(`API key of organization 1 (shown once, stored in ${service.newApiKeyFile}): ${service.apiKey}`);
  console.log('Ctrl-C ends it.');
} catch (error) {
  console.error(explanationOf(error));
  process.exit(1);
}
