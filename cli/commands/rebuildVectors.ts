import { setTimeout as sleep } from 'node:timers/promises';

import type { Store } from '../../store/connect.js';
import type { RebuildProgress, RebuildScope } from '../../store/reembeds/rebuilds.js';
import { bar, createProgressDisplay } from '../bars.js';
import { type Call, type Command, CommandError, JSON_OPTION, UsageError } from '../command.js';
import { requireOrganization, withStore } from '../store.js';

const POLL_MS = 1_000;
/** Maximum number of failed files that are shown. */
const MAX_SHOWN_FAILURES = 20;

/** Makes the selected collections usable: missing ones are created, damaged ones only with --recreate. */
export async function prepareCollections({ rebuilds }: Store, scope: RebuildScope, recreates: boolean, call: Call) {
  const { out } = call.terminal;
  const usedSpaces = await rebuilds.spaces(scope);
  const checkedSpaces = new Map((await rebuilds.check()).map((checked) => [checked.space, checked]));
  const damaged = usedSpaces.flatMap((usage) => {
    const problem = checkedSpaces.get(usage.space)?.problem ?? null;
    return problem === null ? [] : [{ ...usage, problem }];
  });
  for (const { space, files, problem } of damaged)
    call.terminal.err(`The collection of ${space} (${files} files) is damaged: ${problem}\n`);
  if (damaged.length > 0 && (scope.organizationId !== null || scope.customerId !== null))
    throw new CommandError(
      'A damaged collection must be created again, which empties it for all organizations. Run the command without --org and --customer.',
    );
  if (damaged.length > 0 && !recreates)
    throw new CommandError(
      'Nothing was changed. With --recreate these collections are emptied and filled again; meanwhile searches find only vectors that are already rebuilt.',
    );
  const active = damaged.length > 0 ? await rebuilds.countActive() : 0;
  if (active > 0)
    throw new CommandError(
      `Nothing was changed, because ${active} runs still write vectors. Files that they have processed would not be rebuilt. Wait until they end, or cancel them, then run the command again.`,
    );
  for (const { space, dimensions } of usedSpaces) {
    if (damaged.some((one) => one.space === space)) {
      await rebuilds.recreate({ name: space, dimensions });
      if (!call.has('json')) out(`collection of ${space}: created again`);
    } else if (!checkedSpaces.has(space)) {
      await rebuilds.ensure({ name: space, dimensions });
      if (!call.has('json')) out(`collection of ${space}: was missing, created`);
    }
  }
  return usedSpaces.reduce((sum, { files }) => sum + files, 0);
}

/**
 * Returns whether all selected files have vectors or were skipped permanently. Only then does the command end with code
 * 0.
 */
export const isCompleteRebuild = ({ finishedRuns, runs, brokenRuns, failed }: RebuildProgress): boolean =>
  finishedRuns === runs && brokenRuns === 0 && failed === 0;

const linesOf = (progress: RebuildProgress, files: number): string[] => {
  const skipped = Object.entries(progress.skipped).map(([reason, count]) => `${count} skipped (${reason})`);
  const processed = progress.rebuilt + progress.failed + Object.values(progress.skipped).reduce((a, b) => a + b, 0);
  return [
    `${bar(processed, files)} files · ${progress.rebuilt} rebuilt (${progress.chunks} chunks) · ${[`${progress.failed} failed`, ...skipped].join(' · ')}`,
    `${progress.finishedRuns} of ${progress.runs} users done`,
  ];
};

/** Shows the progress of the runs until all have ended or the command is stopped. @returns the last progress */
export async function waitForRuns({ rebuilds }: Store, runIds: readonly number[], files: number, { terminal }: Call) {
  const progressDisplay = createProgressDisplay(terminal);
  try {
    for (;;) {
      const progress = await rebuilds.progress(runIds);
      progressDisplay.paint(linesOf(progress, files));
      if (progress.finishedRuns === progress.runs || terminal.stopped.aborted) return progress;
      await sleep(POLL_MS, undefined, { signal: terminal.stopped }).catch(() => undefined);
    }
  } finally {
    progressDisplay.end();
  }
}

export const rebuildVectors: Command = {
  usage: '',
  about: [
    'Rebuilds the vectors of files from stored data: chunks are embedded with the model of their file, sparse vectors are',
    'computed, vectors that callers supplied are read from their uploads, and stored pictures are embedded again. Nothing is',
    'fetched. The workers do it, one run per user. Each file publishes its new vectors separately, so searches continue. A missing collection is created first.',
    'Ctrl-C ends the command while the runs continue; the same command shows their progress again. Files in cold storage keep',
    'their vectors there and are skipped. Exits with code 1 if files failed or runs did not finish.',
  ].join('\n'),
  options: {
    org: { value: 'ID', about: 'Only this organization.' },
    customer: { value: 'ID', about: 'Only this end user of the organization (customer-id); with --org.' },
    space: { value: 'NAME', about: 'Only vectors in this space, as named by reconcile.' },
    recreate: { about: 'Empties damaged collections and fills them again.' },
    ...JSON_OPTION,
  },
  async run(call) {
    const { has, number, text, terminal } = call;
    const scope = {
      organizationId: number('org') ?? null,
      customerId: text('customer') ?? null,
      space: text('space') ?? null,
    };
    if (scope.customerId !== null && scope.organizationId === null) throw new UsageError('--customer needs --org');
    return withStore(terminal, async (store) => {
      const files = await prepareCollections(store, scope, has('recreate'), call);
      if (files === 0) await requireOrganization(store, scope.organizationId);
      if (files === 0 && (scope.customerId ?? scope.space) !== null)
        throw new CommandError('No file with vectors is in this scope. Check --org, --customer and --space.');
      const runIds = await store.rebuilds.accept(scope);
      const progress = await waitForRuns(store, runIds, files, call);
      const failures = await store.rebuilds.failures(runIds, MAX_SHOWN_FAILURES);
      const isDone = isCompleteRebuild(progress);
      if (has('json')) {
        terminal.out(JSON.stringify({ ...progress, failures, done: isDone }));
        return isDone ? 0 : 1;
      }
      for (const line of linesOf(progress, files)) terminal.out(line);
      for (const { organizationId, fileId, message } of failures)
        terminal.out(`  organization ${organizationId}, file ${fileId}: ${message}`);
      if (progress.failed > failures.length) terminal.out(`  … ${progress.failed - failures.length} more`);
      if (progress.finishedRuns < progress.runs)
        terminal.out('The runs continue. The same command shows their progress.');
      else if (progress.brokenRuns > 0)
        terminal.out(`${progress.brokenRuns} runs were aborted. Run the command again.`);
      return isDone ? 0 : 1;
    });
  },
};
