/**
 * Runs the conformance tests of the Model Context Protocol on Node 20. They import `globSync` from `fs`, which exists
 * from Node 22 on, for a command that our tests do not run. This script replaces `globSync`.
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
