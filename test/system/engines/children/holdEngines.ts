/** Starts all engines on the folder named by its argument, prints their process ids and keeps running. */
import { startEngines } from '../../../../engines/start.js';

const dataDir = process.argv[2];
if (!dataDir) throw new Error('usage: holdEngines.ts DATA_DIR');
const need = { temporal: true, mongodb: true, qdrant: true };
const { temporal, mongodb, qdrant } = await startEngines({ dataDir, need, ports: 'free' });
process.stdout.write(`${JSON.stringify([temporal?.pid, mongodb?.pid, qdrant?.pid])}\n`);
