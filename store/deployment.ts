import { randomInt } from 'node:crypto';
import type { Connection } from 'mongoose';

interface DeploymentDoc {
  _id: 'deployment';
  deploymentId: string;
}

const ID_LENGTH = 8;
/**
 * Letters and digits without vowels and without similar characters, because people read the id aloud and type it into
 * search fields.
 */
const ALPHABET = 'bcdfghjkmnpqrstvwxz23456789';

const newId = (): string => Array.from({ length: ID_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');

const rows = (connection: Connection) => connection.collection<DeploymentDoc>('meta');

/** Returns the id of the deployment that owns this database; null before the first start. */
export async function findDeploymentId(connection: Connection): Promise<string | null> {
  return (await rows(connection).findOne({ _id: 'deployment' }))?.deploymentId ?? null;
}

/** Returns the id of the deployment that owns this database. The first process to connect creates it. */
export async function readDeploymentId(connection: Connection): Promise<string> {
  const existing = await findDeploymentId(connection);
  if (existing !== null) return existing;
  const row = await rows(connection).findOneAndUpdate(
    { _id: 'deployment' },
    { $setOnInsert: { deploymentId: newId() } },
    { upsert: true, returnDocument: 'after' },
  );
  if (!row) throw new Error('The deployment id could not be stored');
  return row.deploymentId;
}

/** Assigns a new id to the deployment and returns it. Running processes keep the old id: stop them first. */
export async function renewDeploymentId(connection: Connection): Promise<string> {
  const deploymentId = newId();
  await rows(connection).updateOne({ _id: 'deployment' }, { $set: { deploymentId } }, { upsert: true });
  return deploymentId;
}
