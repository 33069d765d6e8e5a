import { environment } from '../config/config.js';
import { setPrivateUmask } from '../config/process/privateFiles.js';
import { onInterrupt } from '../config/process/stopSignals.js';
import { waitForEnter } from './prompt.js';
import { runCli } from './run.js';

setPrivateUmask();
const stopping = new AbortController();
onInterrupt(() => stopping.abort());

process.exitCode = await runCli(process.argv.slice(2), {
  env: environment(),
  isInteractive: process.stderr.isTTY === true,
  out: (line) => console.log(line),
  err: (text) => void process.stderr.write(text),
  waitForEnter: (request) => waitForEnter(request, stopping.signal),
  stopped: stopping.signal,
});
