import { MetadataMode } from '@llamaindex/core/schema';

import { prepare } from '../sample.mjs';
import { AllotropeRetriever } from './retriever.mjs';

const retriever = new AllotropeRetriever({ ...(await prepare()), k: 2 });
for (const { node, score } of await retriever.retrieve(process.argv[2] ?? 'How deep is the entrance at low water?')) {
  const text = node.getContent(MetadataMode.NONE).replaceAll(/\s+/g, ' ');
  console.log(`${score.toFixed(2)} [${node.metadata.source}, page ${node.metadata.page}] ${text}`);
}
