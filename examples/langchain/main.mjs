import { prepare } from '../sample.mjs';
import { AllotropeRetriever } from './retriever.mjs';

const retriever = new AllotropeRetriever({ ...(await prepare()), k: 2 });
for (const { pageContent, metadata } of await retriever.invoke(
  process.argv[2] ?? 'How deep is the entrance at low water?',
))
  console.log(`[${metadata.source}, page ${metadata.page}] ${pageContent.replaceAll(/\s+/g, ' ')}`);
