import { type Command, CommandError, idOf } from '../command.js';
import { withStore } from '../store.js';

export const approveDeletions: Command = {
  usage: 'ID',
  about:
    'A listing that misses suspiciously many files of a data source deletes none (deletions_held). Once you have looked at\nthe account, this lets its next listing delete whatever it misses.',
  options: {},
  async run({ args: [id], terminal }) {
    const known = await withStore(terminal, (store) => store.dataSources.approveDeletions(idOf(id, 'ID')));
    if (!known) throw new CommandError(`There is no data source ${id}. POST /data_sources lists them.`);
    terminal.out(
      `The next listing of data source ${id} deletes what it misses. POST /integrations/items/sync starts one.`,
    );
  },
};
