import { type Command, JSON_OPTION } from '../command.js';
import { withStore } from '../store.js';

export const renewDeployment: Command = {
  usage: '',
  about: [
    'Gives this database a new deployment id. A copy restored from a backup needs it if it shares a Temporal namespace with the',
    'original: with equal ids, each deployment would execute runs of the other. Stop API and workers of the copy first. Active',
    'runs end as aborted; resync their files.',
  ].join('\n'),
  options: { ...JSON_OPTION },
  async run({ has, terminal }) {
    const ids = await withStore(terminal, async (store) => ({
      before: store.deploymentId,
      now: await store.renewDeploymentId(),
    }));
    if (has('json')) return terminal.out(JSON.stringify(ids));
    terminal.out(`The deployment id was ${ids.before} and is ${ids.now} now. Start API and workers.`);
  },
};
