import { type Command, CommandError, idOf } from '../command.js';
import { withStore } from '../store.js';

export const approveDeletions: Command = {
  usage: 'ID',
  about:
    'A listing that misses suspiciously many files of a data source deletes none (deletions_held). Check the account first;\nthen this command lets the next listing delete the missing files.',
  options: {},
  async run({ args: [id], terminal }) {
    const isApproved = await withStore(terminal, (store) => store.dataSources.approveDeletions(idOf(id, 'ID')));
    if (!isApproved)
      throw new CommandError(
        `No deletions of data source ${id} are held, or it does not exist. List those with held deletions: GET /data_sources/held_deletions`,
      );
    terminal.out(
      `The next listing of data source ${id} deletes the missing files. Start one with POST /integrations/items/sync.`,
    );
  },
};
