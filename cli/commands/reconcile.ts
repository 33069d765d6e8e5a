import { DIFFERENCES, type Progress } from '../../store/reconcile/differences.js';
import { loadConfig } from '../../config/config.js';
import { createPainter } from '../bars.js';
import { type Command, JSON_OPTION } from '../command.js';
import { createEmbedder } from '../embedder.js';
import { reconcile } from '../reconcile.js';
import { withStore } from '../store.js';

const seen = ({ organizations, users, files, points, stored, busy }: Progress): string =>
  `${organizations} organizations, ${users} users, ${files} files, ${points} points, ${stored} stored files looked at; ${busy} files at work left alone`;

export const reconcileCommand: Command = {
  usage: '',
  about: [
    'Compares the records of all files with their chunks, points of every vector space, contents, uploads, vectors in cold',
    'storage and items, organization by organization, while everything goes on. What a run is at work on is left alone.',
    'Of the vectors of each space 10,000, chosen at random, are read: whether they are there, whole and of length 1; of these 64',
    'are compared with their text embedded again, if the embedded model serves the space. Overwritten bytes of single vectors can',
    'escape a sample: --full reads all.',
    'Tells each kind of difference with its number and examples. Exit code 1 where differences are left.',
    '',
    'With --mend what nobody names is deleted, files that lack something are queued for a resync (a worker does it), counts',
    'are taken anew. Kinds:',
    ...Object.entries(DIFFERENCES).map(([kind, about]) => `  ${kind.padEnd(18)} ${about}`),
  ].join('\n'),
  options: {
    mend: { about: 'Mends what can safely be mended.' },
    full: { about: 'Reads all vectors, and compares 1,000 of each space with their texts.' },
    remote: { about: 'Compares vectors of remote models too; their providers bill for it.' },
    org: { value: 'ID', about: 'Only this organization.' },
    ...JSON_OPTION,
  },
  async run({ has, number, terminal }) {
    const organizationId = number('org') ?? null;
    const painter = createPainter(terminal);
    const embedder = createEmbedder(loadConfig(terminal.env), has('remote'));
    const options = { organizationId, mends: has('mend'), readsAllVectors: has('full'), embed: embedder?.embed };
    const { report, progress } = await withStore(terminal, async (store) => {
      try {
        return await reconcile(store, options, (now) => painter.paint([seen(now)]));
      } finally {
        await embedder?.close();
      }
    });
    painter.end();
    const kinds = [...report.kinds()];
    if (has('json')) {
      terminal.out(
        JSON.stringify({ looked_at: progress, differences: Object.fromEntries(kinds), left: report.left() }),
      );
      return report.left() > 0 ? 1 : 0;
    }
    for (const [kind, { count, mended, examples }] of kinds) {
      terminal.out(`${kind}: ${count}${has('mend') ? `, ${mended} mended` : ''}: ${DIFFERENCES[kind]}`);
      for (const example of examples) terminal.out(`  ${example}`);
      if (count > examples.length) terminal.out(`  … ${count - examples.length} more`);
    }
    terminal.out(seen(progress));
    if (kinds.some(([kind]) => kind === 'damaged_collection'))
      terminal.out('npm run cli -- vectors rebuild --recreate makes all vectors of these collections again.');
    else if (kinds.some(([kind]) => kind === 'damaged_vectors'))
      terminal.out('npm run cli -- vectors rebuild makes vectors again from stored chunks; nothing is fetched.');
    if (kinds.length === 0) terminal.out('No difference.');
    else if (!has('mend')) terminal.out('npm run cli -- reconcile --mend mends what can be mended.');
    else if (kinds.some(([kind]) => DIFFERENCES[kind].includes('resync')))
      terminal.out('Queued files are synced by the workers: npm run cli -- status --watch');
    return report.left() > 0 ? 1 : 0;
  },
};
