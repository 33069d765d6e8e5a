import { DIFFERENCES, type Progress } from '../../store/reconcile/differences.js';
import { loadConfig } from '../../config/config.js';
import { createProgressDisplay } from '../bars.js';
import { type Command, JSON_OPTION } from '../command.js';
import { createEmbedder } from '../embedder.js';
import { reconcile } from '../reconcile.js';
import { requireOrganization, withStore } from '../store.js';

const describeProgress = ({ organizations, users, files, points, stored, busy }: Progress): string =>
  `${organizations} organizations, ${users} users, ${files} files, ${points} points, ${stored} stored files checked; ${busy} files of active runs skipped`;

export const reconcileCommand: Command = {
  usage: '',
  about: [
    'Compares the records of all files with their chunks, points of every vector space, contents, uploads, vectors in cold',
    'storage and items, organization by organization, while the service runs. Files of active runs are skipped.',
    'In each vector space, 10,000 random vectors are checked for presence, size and length 1. Of these, 64',
    'are compared with new vectors of their texts, if the built-in model serves the space. Damage to single vectors',
    'can be outside the sample: --full reads all.',
    'Prints each kind of difference with its count and examples. Exit code 1 if differences are left.',
    '',
    'With --mend, unreferenced data is deleted, incomplete files are queued for a resync (a worker does it), and counts',
    'are recalculated. Kinds:',
    ...Object.entries(DIFFERENCES).map(([kind, about]) => `  ${kind.padEnd(18)} ${about}`),
  ].join('\n'),
  options: {
    mend: { about: 'Repairs what can be repaired safely.' },
    full: { about: 'Reads all vectors, and compares 1,000 of each space with their texts.' },
    remote: { about: 'Compares vectors of remote models too; their providers bill for it.' },
    org: { value: 'ID', about: 'Only this organization.' },
    ...JSON_OPTION,
  },
  afterInterrupt: 'Differences found so far are not shown. Repairs that were made stay. Run the command again.',
  async run({ has, number, terminal }) {
    const organizationId = number('org') ?? null;
    const progressDisplay = createProgressDisplay(terminal);
    const embedder = createEmbedder(loadConfig(terminal.env), has('remote'));
    if (has('remote') && embedder === null)
      terminal.err(
        'No vector is compared with its text, because the built-in model was not found. Set EMBEDDING_MODEL_PATH and EMBEDDING_TOKENIZER_PATH.\n',
      );
    const options = { organizationId, repairs: has('mend'), readsAllVectors: has('full'), embed: embedder?.embed };
    const { report, progress } = await withStore(terminal, async (store) => {
      try {
        const done = await reconcile(store, options, (now) => {
          progressDisplay.paint([describeProgress(now)]);
          terminal.stopped.throwIfAborted();
        });
        // Data without a record of its organization is a difference. An organization id without record
        // and data is an error.
        if (done.report.kinds().size === 0) await requireOrganization(store, organizationId);
        return done;
      } finally {
        await embedder?.close();
      }
    });
    progressDisplay.end();
    const kinds = [...report.kinds()];
    if (has('json')) {
      terminal.out(
        JSON.stringify({ looked_at: progress, differences: Object.fromEntries(kinds), left: report.countUnrepaired() }),
      );
      return report.countUnrepaired() > 0 ? 1 : 0;
    }
    for (const [kind, { count, mended, examples }] of kinds) {
      terminal.out(`${kind}: ${count}${has('mend') ? `, ${mended} mended` : ''}: ${DIFFERENCES[kind]}`);
      for (const example of examples) terminal.out(`  ${example}`);
      if (count > examples.length) terminal.out(`  … ${count - examples.length} more`);
    }
    terminal.out(describeProgress(progress));
    if (kinds.some(([kind]) => kind === 'damaged_collection'))
      terminal.out('Rebuild all vectors of these collections: npm run cli -- vectors rebuild --recreate');
    else if (kinds.some(([kind]) => kind === 'damaged_vectors'))
      terminal.out('Rebuild vectors from stored chunks, without fetching: npm run cli -- vectors rebuild');
    if (kinds.length === 0) terminal.out('No difference.');
    else if (!has('mend')) terminal.out('Repair what can be repaired: npm run cli -- reconcile --mend');
    else if (kinds.some(([kind]) => DIFFERENCES[kind].includes('queue a resync')))
      terminal.out('The workers sync the queued files. Watch them: npm run cli -- status --watch');
    return report.countUnrepaired() > 0 ? 1 : 0;
  },
};
