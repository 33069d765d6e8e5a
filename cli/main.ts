import { loadConfig, storeSettings } from '../config.js';
import { connectStore } from '../store/connect.js';

const USAGE = `Usage: npm run cli -- COMMAND
  org create NAME    makes an organization and prints its id and an API key`;

async function createOrganization(name: string): Promise<void> {
  const config = loadConfig();
  const store = await connectStore(storeSettings(config));
  try {
    const { organizationId, apiKey } = await store.organizations.create(name);
    console.log(`organization ${organizationId}`);
    console.log(`API key, shown only now: ${apiKey}`);
  } finally {
    await store.close();
  }
}

const [subject, verb, name] = process.argv.slice(2);
if (subject === 'org' && verb === 'create' && name !== undefined && name.trim() !== '') {
  try {
    await createOrganization(name);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
} else {
  console.error(USAGE);
  process.exit(2);
}
