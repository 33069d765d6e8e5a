import { DIFFERENCES, type Progress } from '../../store/reconcile/differences.js';
import { createPainter } from '../bars.js';
import { type Command, JSON_OPTION } from '../command.js';
import { reconcile } from '../reconcile.js';
import { withStore } from '../store.js';

const seen = ({ organizations, users, files, points, stored, busy }: Progress): string =>
  `${organizations} organizations, ${users} users, ${files} files, ${points} points, ${stored} stored files looked at; ${busy} files at work left alone`;

export const reconcileCommand: Command = {
  usage: '',
  about: [
    'Compares the records of all files with their chunks, points of every vector space, contents, uploads, vectors in cold',
    'storage and items, organization by organization, while everything goes on. What a run is at work on is left alone.',
    'Tells each kind of difference with its number and examples. Exit code 1 where differences are left.',
    '',
    'With --mend what nobody names is deleted, files that lack something are queued for a resync (a worker does it), counts',
    'are taken anew. Kinds:',
    ...Object.entries(DIFFERENCES).map(([kind, about]) => `  ${kind.padEnd(18)} ${about}`),
  ].join('\n'),
  options: {
    mend: { about: 'Mends what can safely be mended.' },
    org: { value: 'ID', about: 'Only this organization.' },
    ...JSON_OPTION,
  },
  async run({ has, number, terminal }) {
    const organizationId = number('org') ?? null;
    const painter = createPainter(terminal);
    const { report, progress } = await withStore(terminal, (store) =>
      reconcile(store, { organizationId, mends: has('mend') }, (now) => painter.paint([seen(now)])),
    );
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
    if (kinds.length === 0) terminal.out('No difference.');
    else if (!has('mend')) terminal.out('npm run cli -- reconcile --mend mends what can be mended.');
    else if (kinds.some(([kind]) => DIFFERENCES[kind].includes('resync')))
      terminal.out('Queued files are synced by the workers: npm run cli -- status --watch');
    return report.left() > 0 ? 1 : 0;
  },
};
