import { afterAll, expect, test } from '@jest/globals';
import { EMBEDDING_MODEL_IDS } from '../../../contract/vectors/embeddingModels.js';
import { createLocalProvider } from '../../../providers/embeddings/providers/local.js';
import { createEmbeddings } from '../../../providers/embeddings/registry.js';
import { modelFiles } from './modelFiles.js';
import { length } from './vectors.js';

const embeddings = createEmbeddings({ local: createLocalProvider({ ...modelFiles, threads: 1 }) });
afterAll(() => embeddings.close());

test.each(EMBEDDING_MODEL_IDS)('%s is served by the embedded model in its space', async (model) => {
  const space = embeddings.spaceOf(model);
  const vectors = await embeddings.embed(space.name, ['first text', 'second text'], 'document');
  expect(vectors).toHaveLength(2);
  for (const vector of vectors) {
    expect(vector).toHaveLength(space.dimensions);
    expect(length(vector)).toBeCloseTo(1, 6);
  }
  expect(await embeddings.embed(space.name, ['second text'], 'query')).toEqual([vectors[1]]);
});

test('the embedded model serves a model id without a configured provider', () => {
  expect(embeddings.spaceOf('OPENAI')).toEqual({ name: 'minilm-l6-v2-384', dimensions: 384 });
});

test('rejects an unserved space with a fault that names the space and the setting', async () => {
  const embedding = embeddings.embed('openai-3-small-1536', ['text'], 'query');
  await expect(embedding).rejects.toMatchObject({ name: 'Fault', kind: 'embedding_failed' });
  await expect(embedding).rejects.toThrow(/"openai-3-small-1536".*minilm-l6-v2-384.*EMBEDDING_MODEL_PATH/);
});

test('a custom model has its own space', async () => {
  const customModel = createEmbeddings({
    local: createLocalProvider({ ...modelFiles, threads: 1, spaceName: 'my-model-384' }),
  });
  expect(customModel.spaceOf('COHERE_MULTILINGUAL_V3')).toEqual({ name: 'my-model-384', dimensions: 384 });
  await customModel.close();
});
