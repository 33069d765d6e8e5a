import type { Connection } from 'mongoose';

import { StartError } from '../../contract/startError.js';
import type { SealedSecret, Secrets } from './secrets.js';

interface SecretKeyCheckDoc {
  _id: 'secret-key';
  sealed: SealedSecret;
}

const CONTEXT = { organizationId: 0, record: 'meta:secret-key', field: 'check' };
const KNOWN_TEXT = 'opened with SECRET_KEY';

const WRONG_KEY =
  'SECRET_KEY is not the key that this database was used with, so stored credentials cannot be decrypted. ' +
  'Set the former key again; to rotate keys, put the new one first and keep the former one after it.';

/**
 * Compares SECRET_KEY with the key of the database, by a known text that the first start encrypts and stores. If
 * another key is now first, the text is encrypted with it, so that a rotated key can be removed later.
 * @throws StartError if no key of SECRET_KEY decrypts the text
 */
export async function checkSecretKey(connection: Connection, secrets: Secrets): Promise<void> {
  const rows = connection.collection<SecretKeyCheckDoc>('meta');
  const newlySealed = secrets.seal(CONTEXT, KNOWN_TEXT);
  const row =
    (await rows.findOne({ _id: 'secret-key' })) ??
    // If two first starts run at once, both read the text that one of them stored.
    (await rows.findOneAndUpdate(
      { _id: 'secret-key' },
      { $setOnInsert: { sealed: newlySealed } },
      { upsert: true, returnDocument: 'after' },
    ));
  const sealed = row?.sealed ?? newlySealed;
  try {
    secrets.open(CONTEXT, sealed);
  } catch (error) {
    throw new StartError(WRONG_KEY, { cause: error });
  }
  if (sealed.keyId !== newlySealed.keyId)
    await rows.updateOne({ _id: 'secret-key', 'sealed.keyId': sealed.keyId }, { $set: { sealed: newlySealed } });
}
