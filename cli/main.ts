import { environment } from '../config.js';
import { runCli } from './run.js';

const stopping = new AbortController();
process.once('SIGINT', () => {
  stopping.abort();
  // A second one ends it at once.
  process.once('SIGINT', () => process.exit(130));
});

process.exitCode = await runCli(process.argv.slice(2), {
  env: environment(),
  isInteractive: process.stderr.isTTY === true,
  out: (line) => console.log(line),
  err: (text) => void process.stderr.write(text),
  stopped: stopping.signal,
});
