/**
 * Runs scenarios of the conformance tests of the Model Context Protocol in one process, because its start takes most of
 * the processor time of a scenario. Arguments: the address of the server, then the names of the scenarios, or
 * `--suite NAME`. Before the result of each scenario named in the arguments, prints a line `=== NAME ===`; the results
 * of a suite have no such lines.
 *
 * The tests import `globSync` from `fs`, which exists from Node 22 on, for a command that our tests do not run. This
 * script replaces `globSync`, so that they run on Node 20.
 */
import { register } from 'node:module';

const asUrl = (code) => `data:text/javascript,${encodeURIComponent(code)}`;
const fs = asUrl(
  "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = () => { throw new Error('Node 22 has it'); };",
);
register(
  asUrl(
    `export const resolve = (name, context, next) => name === 'fs' ? { url: ${JSON.stringify(fs)}, shortCircuit: true } : next(name, context);`,
  ),
);

const tests = import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js');
const [node, script, url, ...args] = process.argv;
const calls = args[0] === '--suite' ? [args] : args.map((scenario) => ['--scenario', scenario]);
let exitCode = 0;
for (const [nth, call] of calls.entries()) {
  if (args[0] !== '--suite') console.log(`=== ${call[1]} ===`);
  process.argv = [node, script, 'server', '--url', url, ...call];
  // The module reads process.argv when it is loaded, and calls process.exit() at the end of its scenario. The query
  // makes Node load it for each scenario; the packages that it imports are loaded once.
  const code = await new Promise((end) => {
    process.exit = end;
    import(`${tests}?${nth}`).catch((error) => {
      console.error(error);
      end(1);
    });
  });
  exitCode = Math.max(exitCode, code);
}
process.reallyExit(exitCode);
