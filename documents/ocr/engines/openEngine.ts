import type { EngineChoice, OcrEngine } from './engine.js';

/** Returns an engine. Only the chosen one is loaded, because the WASM engine is large. */
export async function openEngine(choice: EngineChoice): Promise<OcrEngine> {
  if (choice.kind === 'native') return (await import('./native.js')).nativeEngine(choice);
  return (await import('./wasm.js')).wasmEngine(choice.folder);
}
