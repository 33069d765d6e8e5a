export default async function globalTeardown() {
  await globalThis.testRun?.stop();
}
