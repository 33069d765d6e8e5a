import { signIn } from './demo/client.js';
import { scrapeDemo } from './demo/scrape.js';
import { explanationOf } from '../config/process/startFailure.js';
import { readableLog } from './readableLog.js';
import { startService, stopOnSignal } from './service.js';

const say = (line: string): void => console.log(`· ${line}`);
const [first, question] = process.argv.slice(2);
let isStopping = false;
try {
  // Stand-ins for providers live with the tests, which a packed service does without.
  const demo =
    first === '--connect'
      ? await (await import('./demo/connect.js')).connectDemo(say)
      : await scrapeDemo(first, question, say);
  const allowed = [process.env['ALLOWED_PRIVATE_HOSTS'], demo.env['ALLOWED_PRIVATE_HOSTS']].filter(Boolean).join(',');
  // Logs would tear the progress bar: only what is wrong is shown, unless asked otherwise.
  const service = await startService({
    env: { LOG_LEVEL: 'warn', ...process.env, ...demo.env, ALLOWED_PRIVATE_HOSTS: allowed },
    say,
    onLogLine: (line) => say(readableLog(line)),
  });
  stopOnSignal(async () => {
    isStopping = true;
    await demo.close();
    await service.stop();
  }, say);
  await demo.run(await signIn(service));

  console.log(`API:               ${service.url}   (docs: ${service.url}/docs)`);
  if (service.temporalUiUrl) console.log(`Temporal's Web UI: ${service.temporalUiUrl}`);
  if (service.apiKeyIsNew) console.log(`API key:           ${service.apiKey}   (shown only now)`);
  console.log('Still serving. Ctrl-C ends it.');
} catch (error) {
  // What was under way fails when everything ends: that is none, and a second signal would cut the end short.
  if (!isStopping) {
    console.error(explanationOf(error));
    process.exitCode = 1;
    process.kill(process.pid, 'SIGTERM');
  }
}
