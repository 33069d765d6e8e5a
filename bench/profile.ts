/** Summarises the profiles of profiler.mjs: the functions in which the threads spent their time. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SHOWN = 25;

interface Node {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

interface Profile {
  readonly nodes: readonly Node[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** Names of samples in which a thread executes no JavaScript. */
const IDLE_FRAMES = new Set(['(idle)', '(program)']);

/** Returns the path of a file relative to the project; '' for files of Node itself. */
function placeOf(url: string): string {
  if (url === '' || url.startsWith('node:')) return '';
  const file = url.startsWith('file:') ? fileURLToPath(url) : url;
  return path.isAbsolute(file) ? path.relative(ROOT, file) : file;
}

/** Names every node. A function of Node itself also gets the name of its nearest caller outside of Node. */
function nameNodes({ nodes }: Profile): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const callerOf = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id] as const)));
  return new Map(
    nodes.map(({ id, callFrame }) => {
      const name = callFrame.functionName || '(anonymous)';
      const place = placeOf(callFrame.url);
      if (place !== '') return [id, `${name} ${place}:${callFrame.lineNumber + 1}`];
      for (let up = callerOf.get(id); up !== undefined; up = callerOf.get(up)) {
        const frame = byId.get(up)?.callFrame;
        if (frame && placeOf(frame.url) !== '') return [id, `${name} <- ${frame.functionName} ${placeOf(frame.url)}`];
      }
      return [id, name];
    }),
  );
}

/** Returns the busiest functions of each kind of thread, one per line. */
export async function summariseProfiles(folder: string): Promise<string[]> {
  const threads = new Map<string, Map<string, number>>();
  for (const file of await readdir(folder)) {
    const thread = file.replace(/-\d+-(\d+)-\d+\.cpuprofile$/, (_, id: string) => (id === '0' ? '' : ` thread ${id}`));
    const profile = JSON.parse(await readFile(path.join(folder, file), 'utf8')) as Profile;
    const names = nameNodes(profile);
    const spent = threads.get(thread) ?? new Map<string, number>();
    threads.set(thread, spent);
    profile.samples.forEach((id, index) => {
      const name = names.get(id) ?? '';
      // The profiler's own work is not part of the service.
      if (IDLE_FRAMES.has(name) || name.includes('profiler.mjs')) return;
      spent.set(name, (spent.get(name) ?? 0) + (profile.timeDeltas[index] ?? 0) / 1000);
    });
  }
  return [...threads].flatMap(([thread, spent]) => {
    const all = [...spent.values()].reduce((sum, ms) => sum + ms, 0);
    const top = [...spent].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
    const line = ([name, ms]: [string, number]): string =>
      `  ${((ms / all) * 100).toFixed(1).padStart(5)} %  ${ms.toFixed(0).padStart(6)} ms  ${name}`;
    return [`${thread}: ${all.toFixed(0)} ms busy`, ...top.map(line)];
  });
}
