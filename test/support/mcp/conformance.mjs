/**
 * Runs the conformance tests of the Model Context Protocol on Node 20: they import `globSync` of `fs`, which Node 22
 * added, for a command that the tests here do not use.
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
await import('@modelcontextprotocol/conformance/dist/index.js');
