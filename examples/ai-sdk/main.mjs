import { generateText, stepCountIs } from 'ai';

import { prepare } from '../sample.mjs';
import { searchTool } from './searchTool.mjs';
import { standInModel } from './standInModel.mjs';

const { text, steps } = await generateText({
  model: standInModel, // Use your own model, for example openai('…') of @ai-sdk/openai.
  tools: { search: searchTool(await prepare()) },
  stopWhen: stepCountIs(5),
  prompt: process.argv[2] ?? 'How deep is the entrance at low water?',
});
for (const { toolCalls } of steps)
  for (const { toolName, input } of toolCalls) console.log(`${toolName}(${JSON.stringify(input)})`);
console.log(text);
