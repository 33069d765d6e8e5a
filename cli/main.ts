import { loadConfig, storeSettings } from '../config.js';
import { connectStore, type Store } from '../store/connect.js';

const USAGE = `Usage: npm run cli -- COMMAND
  org create NAME                 makes an organization and prints its id and an API key
  source approve-deletions ID     lets the next listing of a data source delete whatever it misses`;

async function createOrganization(store: Store, name: string): Promise<void> {
  const { organizationId, apiKey } = await store.organizations.create(name);
  console.log(`organization ${organizationId}`);
  console.log(`API key, shown only now: ${apiKey}`);
}

async function approveDeletions(store: Store, id: string): Promise<void> {
  const known = /^\d{1,15}$/.test(id) && (await store.dataSources.approveDeletions(Number(id)));
  if (!known) throw new Error(`There is no data source ${id}`);
  console.log(
    `The next listing of data source ${id} deletes what it misses. POST /integrations/items/sync starts one.`,
  );
}

const COMMANDS: Readonly<Record<string, (store: Store, argument: string) => Promise<void>>> = {
  'org create': createOrganization,
  'source approve-deletions': approveDeletions,
};

const [subject, verb, argument] = process.argv.slice(2);
const command = COMMANDS[`${subject} ${verb}`];
if (command && argument !== undefined && argument.trim() !== '') {
  try {
    const store = await connectStore(storeSettings(loadConfig()));
    try {
      await command(store, argument);
    } finally {
      await store.close();
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
} else {
  console.error(USAGE);
  process.exit(2);
}
