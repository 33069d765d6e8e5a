import { signIn } from './demo/client.js';
import { scrapeDemo } from './demo/scrape.js';
import { explanationOf } from '../config/process/startFailure.js';
import { readableLog } from './readableLog.js';
import { startService, stopOnSignal } from './service.js';

const printLine = (line: string): void => console.log(`· ${line}`);
const screen = { isInteractive: process.stdout.isTTY === true, err: (text: string) => void process.stdout.write(text) };
const [first, question] = process.argv.slice(2);
let isStopping = false;
try {
  // Loaded on demand: it imports provider emulators from test/, which a packed service does not contain.
  const demo =
    first === '--connect'
      ? await (await import('./demo/connect.js')).connectDemo(printLine, { screen })
      : await scrapeDemo(first, question, printLine, screen);
  const allowed = [process.env['ALLOWED_PRIVATE_HOSTS'], demo.env['ALLOWED_PRIVATE_HOSTS']].filter(Boolean).join(',');
  // Only warnings and errors by default: other log lines would interrupt the progress bar.
  const service = await startService({
    env: { LOG_LEVEL: 'warn', ...process.env, ...demo.env, ALLOWED_PRIVATE_HOSTS: allowed },
    printLine,
    onLogLine: (line) => printLine(readableLog(line)),
  });
  stopOnSignal(async () => {
    isStopping = true;
    await demo.close();
    await service.stop();
  }, printLine);
  await demo.run(await signIn(service));

  console.log(`API:               ${service.url}   (docs: ${service.url}/docs)`);
  if (service.temporalUiUrl) console.log(`Temporal's Web UI: ${service.temporalUiUrl}`);
  if (service.newApiKeyFile !== null)
    console.log(`API key:           ${service.apiKey}   (shown once, stored in ${service.newApiKeyFile})`);
  console.log('Still serving. Ctrl-C ends it.');
} catch (error) {
  // Stopping aborts the demo on purpose. A second signal would cut the shutdown short.
  if (!isStopping) {
    console.error(explanationOf(error));
    process.exitCode = 1;
    process.kill(process.pid, 'SIGTERM');
  }
}
