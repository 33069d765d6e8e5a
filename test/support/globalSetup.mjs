// Jest would turn a .ts global setup into CommonJS, in which our imports with .js do not resolve.
import { tsImport } from 'tsx/esm/api';

export default async function globalSetup() {
  const { startTestRun } = await tsImport('./testRun.ts', import.meta.url);
  globalThis.testRun = await startTestRun();
}
