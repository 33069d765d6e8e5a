// Jest would compile a .ts global setup to CommonJS, which cannot resolve our imports with .js.
import { tsImport } from 'tsx/esm/api';

export default async function globalSetup() {
  const { startTestRun } = await tsImport('./testRun.ts', import.meta.url);
  globalThis.testRun = await startTestRun();
}
