import { readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { createLocalProvider } from '../../../providers/embeddings/providers/local.js';
import { modelFiles } from '../../providers/embeddings/modelFiles.js';
import { cosine, length } from '../../providers/embeddings/vectors.js';

const provider = createLocalProvider({ ...modelFiles, threads: 2 });
afterAll(() => provider.close());

async function embedOne(text: string): Promise<Float32Array> {
  const [vector] = await provider.embed([text], 'document');
  if (!vector) throw new Error('no vector');
  return vector;
}

const PAIRS = [
  ['How do I reset my password?', 'To choose a new login secret, open the account settings and follow the link.'],
  ['The cat sleeps on the sofa.', 'A kitten is napping on the couch.'],
  [
    'Interest rates were raised by the central bank.',
    'Borrowing money has become more expensive after the monetary decision.',
  ],
  ['The football match ended in a draw.', 'Neither team won the soccer game.'],
  ['Preheat the oven and bake the bread for forty minutes.', 'Cooking instructions for a loaf of sourdough.'],
  ['The flight to Paris was delayed by fog.', 'Bad weather made the plane late.'],
  ['Patients with diabetes should watch their blood sugar.', 'Managing glucose levels is important for diabetics.'],
  ['The database index makes queries faster.', 'Lookups in SQL tables speed up with a proper key.'],
  ['She plays the violin in an orchestra.', 'The musician performs classical pieces on a string instrument.'],
  ['The rocket reached orbit around the Moon.', 'A spacecraft is circling the lunar surface.'],
] as const;

test('places a sentence closest to its paraphrase', async () => {
  const sentences = await provider.embed(
    PAIRS.map(([a]) => a),
    'query',
  );
  const paraphrases = await provider.embed(
    PAIRS.map(([, b]) => b),
    'document',
  );
  const nearest = sentences.map((a) => {
    const scores = paraphrases.map((b) => cosine(a, b));
    return scores.indexOf(Math.max(...scores));
  });
  expect(nearest).toEqual(PAIRS.map((_pair, index) => index));
});

test("matches the cosines of the model's published example within the error of int8", async () => {
  const [lovely, sunny, stadium] = await Promise.all(
    ['The weather is lovely today.', "It's so sunny outside!", 'He drove to the stadium.'].map(embedOne),
  );
  if (!lovely || !sunny || !stadium) throw new Error('no vectors');
  // https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2 gives 0.6660, 0.1046 and 0.1411.
  expect(Math.abs(cosine(lovely, sunny) - 0.666)).toBeLessThan(0.03);
  expect(Math.abs(cosine(lovely, stadium) - 0.1046)).toBeLessThan(0.03);
  expect(Math.abs(cosine(sunny, stadium) - 0.1411)).toBeLessThan(0.03);
});

test('gives a text the same vector, bit for bit, alone and in any batch', async () => {
  const text = 'Vectors of one text must never differ.';
  const alone = await embedOne(text);
  const otherTexts = PAIRS.flat();
  const [inBatch, asQuery] = await Promise.all([
    provider.embed([...otherTexts.slice(0, 7), text, ...otherTexts.slice(7), text], 'document'),
    provider.embed([otherTexts[3]!, text], 'query'),
  ]);
  expect(inBatch[7]).toEqual(alone);
  expect(inBatch.at(-1)).toEqual(alone);
  expect(asQuery[1]).toEqual(alone);
});

test('returns vectors in the order of their texts', async () => {
  // Long and short texts alternate, so that two processes finish them in a different order.
  const texts = PAIRS.flat()
    .slice(0, 8)
    .map((text, index) => (index % 2 ? text : text.repeat(8)));
  const together = await provider.embed(texts, 'document');
  for (const [index, text] of texts.entries()) expect(together[index]).toEqual(await embedOne(text));
});

test('returns each of many concurrent callers its own vectors', async () => {
  const texts = Array.from({ length: 12 }, (_, i) => `document number ${i} about ${i * i} things`);
  const alone: Float32Array[] = [];
  for (const text of texts) alone.push(...(await provider.embed([text], 'document')));
  const calls = await Promise.all(
    texts.map((text, i) => provider.embed([text, texts[(i + 1) % texts.length]!], i % 3 ? 'document' : 'query')),
  );
  calls.forEach((vectors, i) => expect(vectors).toEqual([alone[i], alone[(i + 1) % texts.length]]));
});

test('embeds a long text as the mean of its windows, weighted by word pieces', async () => {
  // Every word is one word piece, so the windows are known: 254 words each, and 64 in the last one.
  const words = Array.from(
    { length: 1_080 },
    (_, i) => ['river', 'music', 'garden', 'engine', 'paper', 'winter', 'market'][(i * i) % 7],
  );
  const windows: string[][] = [];
  for (let start = 0; start < words.length; start += 254) windows.push(words.slice(start, start + 254) as string[]);
  expect(windows.at(-1)).toHaveLength(64);

  const whole = await embedOne(words.join(' '));
  const parts = await provider.embed(
    windows.map((window) => window.join(' ')),
    'document',
  );
  const mean = Array.from({ length: 384 }, (_, i) =>
    parts.reduce((sum, part, k) => sum + part[i]! * windows[k]!.length, 0),
  );
  const norm = Math.hypot(...mean);
  for (const [i, x] of whole.entries()) expect(x).toBeCloseTo(mean[i]! / norm, 6);
  expect(length(whole)).toBeCloseTo(1, 6);
});

test('returns a vector for a text without words', async () => {
  const vectors = await provider.embed(['', ' \n\t ', 'word'], 'document');
  for (const vector of vectors) {
    expect(vector).toHaveLength(384);
    expect(length(vector)).toBeCloseTo(1, 6);
  }
  expect(vectors[1]).toEqual(vectors[0]);
});

test('embeds scripts, emoji and broken characters outside the vocabulary', async () => {
  const vectors = await provider.embed(
    ['漢字かな', '👩‍👩‍👧 🎉', '\ud800 half a pair', 'x'.repeat(100_000), 'nul\0char'],
    'document',
  );
  for (const vector of vectors) expect(length(vector)).toBeCloseTo(1, 6);
});

test('returns no vectors for no texts', async () => {
  expect(await provider.embed([], 'document')).toEqual([]);
});

test('does not block the event loop', async () => {
  let ticks = 0;
  let longestGapMs = 0;
  let last = performance.now();
  const ticker = setInterval(() => {
    const now = performance.now();
    ticks += 1;
    longestGapMs = Math.max(longestGapMs, now - last);
    last = now;
  }, 5);
  const startedAt = performance.now();
  await provider.embed(
    Array.from({ length: 20 }, (_, i) => `${i} ${PAIRS.flat().join(' ')}`),
    'document',
  );
  const tookMs = performance.now() - startedAt;
  clearInterval(ticker);
  expect(ticks).toBeGreaterThan(5);
  expect(longestGapMs).toBeLessThan(tookMs / 2);
});

/** Returns the child processes that run embedded models, with the priority of each of their threads. */
function modelProcesses(): Map<number, number[]> {
  const processes = new Map<number, number[]>();
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    try {
      const isOurs = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ')[1] === String(process.pid);
      if (!isOurs || !readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes('localProcess')) continue;
      processes.set(
        pid,
        readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread))),
      );
    } catch {
      // The process ended while it was inspected.
    }
  }
  return processes;
}

test('embeds long queries at a lower priority than all other texts', async () => {
  const secondProvider = createLocalProvider({ ...modelFiles, threads: 1 });
  const processesBefore = modelProcesses();
  const started = () => [...modelProcesses()].filter(([pid]) => !processesBefore.has(pid));
  try {
    await secondProvider.embed(['short'], 'query');
    await secondProvider.embed(['river '.repeat(1_000)], 'document');
    expect(started().map(([, threads]) => new Set(threads))).toEqual([new Set([getPriority()])]);
    await secondProvider.embed(['river '.repeat(1_000)], 'query');
    const priorities = started().map(([, threads]) => Math.max(...threads));
    expect(priorities.toSorted((a, b) => a - b)).toEqual([getPriority(), Math.min(19, getPriority() + 10)]);
  } finally {
    await secondProvider.close();
  }
});

test('reports a missing model as a fault that names the settings, and loads it once it exists', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'embeddings-'));
  const modelPath = join(dir, 'model.onnx');
  const late = createLocalProvider({ ...modelFiles, modelPath, threads: 1 });
  try {
    const calls = await Promise.allSettled([late.embed(['a', 'b'], 'document'), late.embed(['c'], 'document')]);
    for (const call of calls) {
      expect(call).toMatchObject({ status: 'rejected', reason: { kind: 'embedding_failed', retryable: true } });
      expect(String((call as PromiseRejectedResult).reason)).toMatch(/EMBEDDING_MODEL_PATH/);
    }
    await copyFile(modelFiles.modelPath, modelPath);
    const [vector] = await late.embed(['The cat sleeps on the sofa.'], 'query');
    expect(vector).toEqual(await embedOne('The cat sleeps on the sofa.'));
  } finally {
    await late.close();
    await rm(dir, { recursive: true });
  }
});
