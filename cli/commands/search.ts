import type { DocumentRecord } from '../../contract/files/records.js';
import { knownCustomer, openApi } from '../api.js';
import { type Command, CUSTOMER_OPTION, JSON_OPTION, URL_OPTION, UsageError } from '../command.js';

const MAX_SHOWN_CHARACTERS = 200;

export const search: Command = {
  usage: 'QUERY',
  about: 'Searches the content of a user as POST /embeddings does, and shows the best chunks.',
  options: {
    ...CUSTOMER_OPTION,
    k: { value: 'NUMBER', about: 'Number of chunks. Default: 5.' },
    file: { value: 'ID', multiple: true, about: 'Searches only this file. The option may be repeated.' },
    model: { value: 'ID', about: 'The embedding model. Default: OPENAI.' },
    hybrid: { about: 'Adds keyword search for files with sparse vectors. Other files are ranked by meaning only.' },
    ...URL_OPTION,
    ...JSON_OPTION,
  },
  async run(call) {
    const { args, all, has, number, text, terminal } = call;
    const ids = all('file').map(Number);
    if (!ids.every(Number.isSafeInteger)) throw new UsageError('--file requires the id of a file');
    const api = openApi(call);
    const customer = await knownCustomer(api, text('customer'));
    const model = text('model');
    const { documents } = await api.post<{ documents: DocumentRecord[] }>(
      '/embeddings',
      {
        ...{ query: args[0], k: number('k') ?? 5 },
        ...(ids.length > 0 ? { file_ids: ids } : {}),
        ...(model === undefined ? {} : { embedding_model: model }),
        ...(has('hybrid') ? { hybrid_search: true } : {}),
      },
      customer,
    );
    if (has('json')) return terminal.out(JSON.stringify(documents));
    for (const { rank, score, file_id, chunk_index, source_url, source, content } of documents) {
      terminal.out(
        `${rank}. score ${score?.toFixed(3)} · file ${file_id} · chunk ${chunk_index} · ${source_url ?? source ?? ''}`,
      );
      terminal.out(`   ${content.replaceAll(/\s+/g, ' ').slice(0, MAX_SHOWN_CHARACTERS)}`);
    }
    if (documents.length === 0)
      terminal.out(
        `Nothing found. Check the state of a file: npm run cli -- status --customer ${customer} --find NAME`,
      );
  },
};
