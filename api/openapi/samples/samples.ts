import type { DocumentedOperation } from '../../http/operation.js';
import type { Example } from '../examples.js';
import { curlSample } from './curl.js';
import { pythonSample } from './python.js';
import { type SampleRequest, sampleRequest } from './request.js';
import { typescriptSample } from './typescript.js';

/** A sample as `x-codeSamples` has it. */
export interface CodeSample {
  /** Name of the language for syntax highlighting. */
  readonly lang: string;
  readonly label: string;
  readonly source: string;
}

const LANGUAGES: readonly (Omit<CodeSample, 'source'> & { write(request: SampleRequest): string })[] = [
  { lang: 'shell', label: 'curl', write: curlSample },
  { lang: 'typescript', label: 'TypeScript', write: typescriptSample },
  { lang: 'python', label: 'Python', write: pythonSample },
];

/** Returns the samples of an operation in all languages, with the request of its recorded example. */
export function samplesOf(operation: DocumentedOperation, example?: Example): CodeSample[] {
  const request = sampleRequest(operation, example);
  return LANGUAGES.map(({ lang, label, write }) => ({ lang, label, source: write(request) }));
}
